// Shows the times of a page in the zone of the browser; their titles keep them in UTC. Times in
// graphs stay in UTC.
;(() => {
  'use strict'

  const { lang } = document.documentElement
  const locale = lang === 'en' ? 'en-GB' : lang
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  function localize() {
    for (const time of document.querySelectorAll('time[title]')) {
      const text = format.format(new Date(time.dateTime))
      // Setting the same text again would be observed as a change.
      if (time.textContent !== text) time.textContent = text
    }
  }
  localize()
  new MutationObserver(localize).observe(document.body, { childList: true, subtree: true })
})()
