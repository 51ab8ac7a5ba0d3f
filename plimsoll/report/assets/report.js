// The browser's own print makes the PDF: the page has a layout for paper.
const pdf = Object.assign(document.createElement("button"), { id: "pdf", type: "button", textContent: "Save as PDF" });
pdf.addEventListener("click", () => print());
document.querySelector("header").prepend(pdf);

readCharts(document, JSON.parse(document.getElementById("book").textContent));
