// Keeps parts of a page up to date: elements with an id and `data-live`. Reads them again when the
// server sends an event (`data-events`) or, while `data-live` is "open", in growing intervals. The
// page also works without this script.
;(() => {
  'use strict'

  const POLL_MS = 30_000
  const FIRST_MS = 700
  const parts = () => [...document.querySelectorAll('[data-live]')]
  const [first] = parts()
  if (!first) return
  const state = document.querySelector('#live-state')
  state?.setAttribute('role', 'status')
  for (const note of document.querySelectorAll('[data-scripted]')) note.hidden = false
  // The text as the server sent it: other scripts may change what is shown.
  const seen = new Map(parts().map((part) => [part.id, part.innerHTML]))

  // What a person uses or has opened stays as it is.
  const isInUse = (part) =>
    part.contains(document.activeElement) || part.querySelector('details[open]') !== null

  function renew(part, page) {
    const fresh = page.getElementById(part.id)
    if (!fresh) throw new Error('The part is missing.')
    if (isInUse(part) || seen.get(part.id) === fresh.innerHTML) return
    seen.set(part.id, fresh.innerHTML)
    part.dataset.live = fresh.dataset.live
    part.replaceChildren(...document.importNode(fresh, true).childNodes)
    for (const note of part.querySelectorAll('[data-scripted]')) note.hidden = false
  }

  let isReading = false
  async function read() {
    if (isReading || document.hidden) return
    isReading = true
    try {
      const address = first.dataset.source ?? location.href
      const answer = await fetch(address, { headers: { accept: 'text/html' } })
      if (!answer.ok) throw new Error(String(answer.status))
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      for (const part of parts()) renew(part, page)
      const time = new Date().toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
      if (state) state.textContent = state.dataset.updated.replace('{time}', time)
    } catch {
      if (state) state.textContent = state.dataset.failed
    }
    isReading = false
  }

  let timer
  function poll(isNeeded) {
    clearInterval(timer)
    timer = isNeeded ? setInterval(read, POLL_MS) : undefined
  }

  function listen(address) {
    const events = new EventSource(address)
    events.addEventListener('open', () => poll(false))
    events.addEventListener('error', () => poll(true))
    events.addEventListener('changed', read)
  }

  function readWhileOpen(waitMs) {
    if (!parts().some((part) => part.dataset.live === 'open')) return
    setTimeout(async () => {
      await read()
      readWhileOpen(Math.min(waitMs * 1.4, POLL_MS))
    }, waitMs)
  }

  if (first.dataset.events) listen(first.dataset.events)
  else readWhileOpen(FIRST_MS)
  document.addEventListener('visibilitychange', () => {
    if (first.dataset.events || parts().some((part) => part.dataset.live === 'open')) read()
  })
})()
