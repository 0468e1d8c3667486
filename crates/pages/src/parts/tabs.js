"use strict";
// Tabs of the account page: the address chooses the part, also without this. It says to a screen reader which
// one that is, and keeps the tab in sight.
(() => {
  const tabs = Array.from(document.querySelectorAll("nav.tabs a"));
  const first = tabs.find((tab) => tab.hasAttribute("aria-current"));
  const look = () => {
    const chosen = tabs.find((tab) => tab.hash === location.hash) || first;
    for (const tab of tabs) {
      if (tab === chosen) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    }
    const bar = chosen && chosen.parentElement;
    if (bar && bar.scrollWidth > bar.clientWidth) {
      bar.scrollLeft += chosen.getBoundingClientRect().left - bar.getBoundingClientRect().left - 16;
    }
  };
  addEventListener("hashchange", look);
  look();
})();
