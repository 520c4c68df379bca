/** The menu of small screens, the colours, and buttons that copy code. The search itself is loaded when it is first opened. */

const root = document.documentElement;

const menuButton = document.querySelector(".menu-button");
menuButton.addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("menu-open");
  menuButton.setAttribute("aria-expanded", String(isOpen));
});

const themeButton = document.querySelector(".theme-button");
const systemTheme = matchMedia("(prefers-color-scheme: dark)");
const currentTheme = () => root.dataset.theme ?? (systemTheme.matches ? "dark" : "light");
function nameOtherTheme() {
  const other = currentTheme() === "dark" ? "light" : "dark";
  themeButton.textContent = other === "dark" ? "Dark" : "Light";
  themeButton.setAttribute("aria-label", `Switch to ${other} colours`);
}
themeButton.addEventListener("click", () => {
  root.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("perch-theme", root.dataset.theme);
  } catch {
    // Without storage, the choice lasts for this page.
  }
  nameOtherTheme();
});
systemTheme.addEventListener("change", nameOtherTheme);
nameOtherTheme();

for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  };
  button.addEventListener("click", () => {
    // Browsers give pages without HTTPS no clipboard.
    const copied = navigator.clipboard?.writeText(block.querySelector("code").textContent) ?? Promise.reject();
    copied.then(
      () => say("Copied"),
      () => say("Not allowed"),
    );
  });
  block.append(button);
}

// A page in the middle of a long menu shows its own place in it.
const current = document.querySelector('.sidebar [aria-current="page"]');
const sidebar = document.querySelector(".sidebar");
if (current && current.offsetTop > sidebar.clientHeight - 80) sidebar.scrollTop = current.offsetTop - 200;

const searchDialog = document.querySelector("dialog.search");
async function openSearch() {
  // Opened before anything is loaded, so that no key is lost.
  if (!searchDialog.open) searchDialog.showModal();
  searchDialog.querySelector("input").select();
  const { startSearch } = await import(`./search.js${new URL(import.meta.url).search}`);
  await startSearch();
}
document.querySelector(".search-button").addEventListener("click", () => void openSearch());
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA)$/.test(event.target.tagName);
  const isShortcut = (event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey));
  if (!isShortcut) return;
  event.preventDefault();
  void openSearch();
});
