// Numbers the lines of a text in which a person writes rules, and checks it while it is written.
;(() => {
  'use strict'

  const PAUSE_MS = 700
  const area = document.querySelector('textarea[data-checked]')
  if (!area) return
  const state = document.getElementById(area.dataset.checked)
  const numbers = document.createElement('pre')
  numbers.setAttribute('aria-hidden', 'true')
  const frame = document.createElement('div')
  frame.className = 'numbered'
  area.before(frame)
  frame.append(numbers, area)

  let shown = ''
  /** Faults by line. */
  let faulty = new Map()

  function number() {
    const lines = area.value.split('\n').length
    const key = `${lines} ${[...faulty.keys()].join()}`
    if (key !== shown) {
      shown = key
      const parts = Array.from({ length: lines }, (_, at) => {
        const reason = faulty.get(at + 1)
        if (reason === undefined) return `${at + 1}\n`
        const mark = document.createElement('mark')
        mark.textContent = `${at + 1}`
        mark.title = reason
        return mark
      })
      numbers.replaceChildren(...parts.flatMap((one) => (one.title ? [one, '\n'] : [one])))
    }
    numbers.scrollTop = area.scrollTop
  }

  /** Selects a line, and scrolls to it. */
  function goTo(line) {
    const lines = area.value.split('\n')
    const from = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
    area.focus()
    area.setSelectionRange(from, from + (lines[line - 1] ?? '').length)
    const height = area.scrollHeight / lines.length
    area.scrollTop = Math.max(0, (line - 5) * height)
  }

  function itemOf({ line, at, symbol, reason }) {
    const item = document.createElement('li')
    const place = Object.assign(document.createElement('button'), { type: 'button' })
    place.className = 'plain'
    place.textContent = at
    place.addEventListener('click', () => goTo(line))
    const words = Object.assign(document.createElement('span'), { lang: 'en' })
    words.textContent = ` ${symbol === undefined ? '' : `${symbol}: `}${reason}`
    item.append(place, words)
    return item
  }

  function show({ faults, summary }) {
    // What the server said about an earlier text.
    document.getElementById('faults')?.remove()
    faulty = new Map(faults.map(({ line, reason }) => [line, reason]))
    area.toggleAttribute('aria-invalid', false)
    if (faults.length > 0) area.setAttribute('aria-invalid', 'true')
    area.setAttribute('aria-describedby', state.id)
    const sentence = Object.assign(document.createElement('p'), { textContent: summary })
    const list = document.createElement('ul')
    list.append(...faults.map(itemOf))
    state.className = `check-state ${faults.length > 0 ? 'bad' : 'good'}`
    state.replaceChildren(sentence, ...(faults.length > 0 ? [list] : []))
    number()
  }

  let isChecking = false
  let isStale = false
  async function check() {
    isStale = isChecking
    if (isChecking) return
    isChecking = true
    try {
      const body = new URLSearchParams(new FormData(area.form))
      body.set('do', 'check')
      const headers = { accept: 'application/json' }
      const answer = await fetch(area.form.action, { method: 'POST', body, headers })
      show(await answer.json())
    } catch {
      state.className = 'check-state'
      state.textContent = area.dataset.unchecked
    }
    isChecking = false
    if (isStale) later()
  }

  let timer
  function later() {
    clearTimeout(timer)
    timer = setTimeout(check, PAUSE_MS)
  }
  area.addEventListener('input', () => {
    number()
    later()
  })
  area.addEventListener('scroll', number)
  number()
})()
