// The page as a whole: theme, contents, printing; and every table and picture.

const root = document.documentElement;
const storage = {
  get: (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set: (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      // In some browsers, pages from files have no storage. The choice is then lost with the page.
    }
  },
};

const themes = ["system", "light", "dark"];
const themeButton = document.getElementById("theme");
function setTheme(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  themeButton.textContent = `Theme: ${theme}`;
  themeButton.dataset.theme = theme;
}
themeButton.addEventListener("click", () => {
  const theme = themes[(themes.indexOf(themeButton.dataset.theme) + 1) % themes.length];
  storage.set("tress-theme", theme);
  setTheme(theme);
});
setTheme(themes.includes(storage.get("tress-theme")) ? storage.get("tress-theme") : "system");

const contents = document.querySelector("details.contents");
const isNarrow = matchMedia("(max-width: 74rem)");
const fold = () => (contents.open = !isNarrow.matches);
isNarrow.addEventListener("change", fold);
fold();

const expandButton = document.getElementById("expand");
expandButton.addEventListener("click", () => {
  const isOpen = expandButton.getAttribute("aria-pressed") !== "true";
  expandButton.setAttribute("aria-pressed", String(isOpen));
  for (const details of document.querySelectorAll("main details")) details.open = isOpen;
});
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.verdicts")) details.open = true;
});

// Marks the reader's position in the contents.
const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id).setAttribute("aria-current", "true");
    }
  },
  { rootMargin: "-10% 0px -80% 0px" },
);
for (const section of document.querySelectorAll("main section[id]")) if (links.has(section.id)) watch.observe(section);

for (const table of document.querySelectorAll("div.table")) enhance(table);
for (const figure of document.querySelectorAll("figure.chart")) showFigures(figure);
document.querySelector(".tools").hidden = false;
