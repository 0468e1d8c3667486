"use strict";
// Days and times in the browser's zone, which is named, as the reader's region writes them. Without this they
// are read in UTC, which is named, too.
(() => {
  const page = document.documentElement.lang;
  const region = navigator.languages.find((tag) => tag.split("-")[0] === page) || page;
  const parts = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  // The digits of the rest of the page.
  const format = new Intl.DateTimeFormat(region, { ...parts, numberingSystem: "latn" });
  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.valueOf())) time.textContent = format.format(at);
  }
})();
