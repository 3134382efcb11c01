// Keeps the dashboard up to date: reads the page again when the server says that something has
// changed, or every half minute while server-sent events do not arrive. The page also works without
// this script.
;(() => {
  'use strict'

  const POLL_MS = 30_000
  const live = document.querySelector('#live')
  const state = document.querySelector('#live-state')
  if (!live || !state) return
  state.setAttribute('role', 'status')

  let isReading = false
  async function read() {
    // What a person uses or has opened stays as it is.
    if (isReading || document.hidden || live.contains(document.activeElement)) return
    if (live.querySelector('details[open]')) return
    isReading = true
    try {
      const answer = await fetch('/admin', { headers: { accept: 'text/html' } })
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const fresh = answer.ok && page.querySelector('#live')
      if (!fresh) throw new Error(String(answer.status))
      live.replaceChildren(...document.importNode(fresh, true).childNodes)
      const time = new Date().toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
      state.textContent = state.dataset.updated.replace('{time}', time)
    } catch {
      state.textContent = state.dataset.failed
    }
    isReading = false
  }

  let timer
  const poll = (isNeeded) => {
    clearInterval(timer)
    timer = isNeeded ? setInterval(read, POLL_MS) : undefined
  }
  const events = new EventSource(live.dataset.events)
  events.addEventListener('open', () => poll(false))
  events.addEventListener('error', () => poll(true))
  events.addEventListener('changed', read)
  document.addEventListener('visibilitychange', read)
})()
