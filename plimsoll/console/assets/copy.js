/** A button that copies a text, and says whether the browser let it. */
import { h } from "./dom.js";

/**
 * @param {HTMLElement} of the element whose text it copies
 * @returns {{element: HTMLElement, changed: () => void}} changed: the text is another one now
 */
export function copyControl(of) {
  const told = h("span", { class: "note", role: "status" });
  const button = h("button", { type: "button", class: "quiet", onclick: async () => {
    try {
      await navigator.clipboard.writeText(of.textContent ?? "");
      told.textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(of);
      told.textContent = "The browser does not allow copying. The text is selected: copy it yourself.";
    }
  } }, "Copy");
  return { element: h("span", {}, button, " ", told), changed: () => (told.textContent = "") };
}
