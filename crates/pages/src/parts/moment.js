"use strict";
// Days and times in the browser's zone, which is named, as the reader's region writes them. Without this they
// are read in UTC, which is named, too.
(() => {
  const page = document.documentElement.lang;
  const region = navigator.languages.find((tag) => tag.split("-")[0] === page) || page;
  const parts = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  // The digits of the rest of the page.
  const format = new Intl.DateTimeFormat(region, { ...parts, numberingSystem: "latn" });
  const ago = new Intl.RelativeTimeFormat(page, { numeric: "auto" });
  const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.valueOf())) continue;
    time.textContent = format.format(at);
    if (!time.matches(".ago")) continue;
    // The moment itself is a pointer away.
    time.title = time.textContent;
    const seconds = Math.max(0, (Date.now() - at) / 1000);
    const [unit, length] = units.find(([, length]) => seconds >= length) || units[units.length - 1];
    // The server notes a minute at most.
    time.textContent = unit === "second" ? ago.format(0, "minute") : ago.format(-Math.floor(seconds / length), unit);
  }
})();
