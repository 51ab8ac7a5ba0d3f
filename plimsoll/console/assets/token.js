/**
 * The token that lets the page call. It is kept for the tab alone (`sessionStorage`); another tab
 * of the same page, opened without one, asks those that are open already.
 */

const ASK_MS = 250; // then the page asks its reader, too

/**
 * @param {string | null} given that the address brought
 * @param {(token: string) => void} late called with a token of a tab that answers later
 * @returns {Promise<string | null>} null: nobody has one so far
 */
export async function sharedToken(given, late) {
  const channel = new BroadcastChannel("plimsoll-token");
  const own = given ?? sessionStorage.getItem("token");
  const token = own ?? (await asked(channel));
  if (token) sessionStorage.setItem("token", token);
  channel.addEventListener("message", ({ data }) => {
    const known = sessionStorage.getItem("token");
    if (data === "who has it?" && known) channel.postMessage({ token: known });
    if (typeof data?.token === "string" && !known) late(data.token);
  });
  return token;
}

/**
 * @param {BroadcastChannel} channel
 * @returns {Promise<string | null>}
 */
function asked(channel) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ASK_MS);
    channel.addEventListener("message", ({ data }) => {
      if (typeof data?.token !== "string") return;
      clearTimeout(timer);
      resolve(data.token);
    });
    channel.postMessage("who has it?");
  });
}
