// Shows the values of graphs at the pointer, at a finger, and by keyboard: arrow keys, Page Up and
// Page Down, Home and End. The other graphs of the same time show the same instant. The graphs and
// their tables also work without this script.
;(() => {
  'use strict'

  const BETWEEN = '|'
  const FAST = 10
  const plots = () => [...document.querySelectorAll('.graph .plot')]
  const timesOf = (plot) => plot.dataset.times.split(BETWEEN)

  function make(tag, className, text) {
    return Object.assign(document.createElement(tag), { className, textContent: text ?? '' })
  }

  /** What the graph shows at a step, the topmost area first as in the picture. */
  function readAt(plot, step) {
    const sets = [...plot.querySelectorAll('[data-values]')].map(({ dataset }) => {
      return { ...dataset, value: dataset.values.split(BETWEEN)[step] || '–' }
    })
    const marks = [...plot.querySelectorAll('.mark')]
    return {
      when: timesOf(plot)[step],
      sets,
      marks: marks
        .filter(({ dataset }) => Number(dataset.step) === step)
        .map((mark) => mark.querySelector('title').textContent),
    }
  }

  function partsOf(plot) {
    const [cursor, tip] = [plot.querySelector('.cursor'), plot.querySelector('.tip')]
    if (cursor) return { cursor, tip }
    const made = { cursor: make('div', 'cursor'), tip: make('div', 'tip') }
    for (const part of Object.values(made)) part.setAttribute('aria-hidden', 'true')
    plot.append(made.cursor, made.tip)
    return made
  }

  function fill(tip, { when, sets, marks }) {
    const rows = sets.map(({ tone, name, value }) => {
      const row = make('div', 'row')
      row.append(make('span', `dot ${tone ?? ''}`), make('span', 'name', name))
      row.append(make('strong', '', value))
      return row
    })
    const events = marks.map((text) => make('div', 'event', text))
    tip.replaceChildren(make('div', 'when', when), ...rows, ...events)
  }

  function show(plot, step) {
    const count = timesOf(plot).length
    for (const one of plots()) {
      const isSame = one === plot
      const { cursor, tip } = partsOf(one)
      const isShown = isSame || one.dataset.times === plot.dataset.times
      cursor.hidden = !isShown
      tip.hidden = !isSame
      const place = (step + 0.5) / count
      cursor.style.left = `${place * 100}%`
      if (!isSame) continue
      fill(tip, readAt(one, step))
      tip.classList.toggle('before', place > 0.5)
      tip.style.left = `${place * 100}%`
    }
  }

  function hide() {
    for (const part of document.querySelectorAll('.graph :is(.cursor, .tip)')) part.hidden = true
  }

  function textAt(plot, step) {
    const { when, sets, marks } = readAt(plot, step)
    return [when, ...sets.map(({ name, value }) => `${name} ${value}`), ...marks].join(', ')
  }

  function moveTo(slider, plot, step) {
    slider.setAttribute('aria-valuenow', String(step))
    slider.setAttribute('aria-valuetext', textAt(plot, step))
    show(plot, step)
  }

  /** A slider over the plot reads values by keyboard; a pointer goes through it. */
  function prepare(plot) {
    if (plot.querySelector('.reader')) return
    const last = timesOf(plot).length - 1
    const slider = make('div', 'reader')
    slider.tabIndex = 0
    slider.setAttribute('role', 'slider')
    slider.setAttribute('aria-labelledby', plot.closest('figure').querySelector('figcaption').id)
    slider.setAttribute('aria-valuemin', '0')
    slider.setAttribute('aria-valuemax', String(last))
    slider.setAttribute('aria-valuenow', String(last))
    slider.setAttribute('aria-valuetext', textAt(plot, last))
    plot.append(slider)
    const now = () => Number(slider.getAttribute('aria-valuenow'))
    slider.addEventListener('focus', () => slider.matches(':focus-visible') && show(plot, now()))
    slider.addEventListener('blur', hide)
    slider.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') return hide()
      const steps = {
        ...{ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 },
        ...{ PageUp: FAST, PageDown: -FAST, Home: -last, End: last },
      }
      const by = steps[event.key]
      if (by === undefined) return
      event.preventDefault()
      moveTo(slider, plot, Math.min(last, Math.max(0, now() + by)))
    })
    const point = (event) => {
      const { left, width } = plot.getBoundingClientRect()
      const part = (event.clientX - left) / width
      show(plot, Math.min(last, Math.max(0, Math.floor(part * (last + 1)))))
    }
    plot.addEventListener('pointermove', point)
    plot.addEventListener('pointerdown', point)
    plot.addEventListener('pointerleave', hide)
  }

  const prepareAll = () => plots().forEach(prepare)
  prepareAll()
  // The dashboard is shown anew when something has changed.
  for (const live of document.querySelectorAll('[data-live]'))
    new MutationObserver(prepareAll).observe(live, { childList: true })
})()
