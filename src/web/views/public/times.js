// Shows the times of a page in the zone of the browser, and recent ones as "5 minutes ago"; their
// titles keep them in UTC. Times that follow a word such as "since" are never relative. Times in
// graphs stay in UTC.
;(() => {
  'use strict'

  const MINUTE_MS = 60_000
  const RECENT_MS = 60 * MINUTE_MS
  const { lang } = document.documentElement
  const locale = lang === 'en' ? 'en-GB' : lang
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const { justNow } = document.body.dataset
  const isForPeople = document.body.classList.contains('people')

  function textOf(at, isExact) {
    const ageMs = Date.now() - at
    // The clocks of the server and the browser may differ a little.
    if (!isForPeople || isExact || ageMs > RECENT_MS || ageMs < -MINUTE_MS) return format.format(at)
    const minutes = Math.max(0, Math.floor(ageMs / MINUTE_MS))
    return minutes === 0 ? justNow : relative.format(-minutes, 'minute')
  }

  function localize() {
    for (const time of document.querySelectorAll('time[title]')) {
      const text = textOf(new Date(time.dateTime), 'exact' in time.dataset)
      // Setting the same text again would be observed as a change.
      if (time.textContent !== text) time.textContent = text
    }
  }
  localize()
  setInterval(localize, MINUTE_MS)
  // Scripts may replace the body.
  new MutationObserver(localize).observe(document.documentElement, {
    childList: true,
    subtree: true,
  })
})()
