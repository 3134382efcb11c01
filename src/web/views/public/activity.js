// Lets a person zoom in on the graphs of the page "Activity" and read single values. The graphs
// also work without this script. The library is loaded when the first graph is to be zoomed.
;(() => {
  'use strict'

  const tones = ['one', 'two', 'three', 'four', 'five', 'six']
  const dashes = [[], [7, 3], [2, 2], [10, 3, 2, 3], [4, 4], [12, 2, 2, 2, 2, 2]]
  const size = { height: 260, widthMin: 528 }

  let loading
  function loadPlot({ plot, style }) {
    loading ??= new Promise((resolve, reject) => {
      const sheet = Object.assign(document.createElement('link'), {
        rel: 'stylesheet',
        href: style,
      })
      const script = Object.assign(document.createElement('script'), { src: plot })
      script.addEventListener('load', resolve)
      script.addEventListener('error', reject)
      document.head.append(sheet, script)
    })
    return loading
  }

  function styleOf(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  }

  function strokeOf(figure, index) {
    const sample = figure.querySelector(`.figures .line.${tones[index % tones.length]}`)
    return sample ? getComputedStyle(sample).stroke : 'currentColor'
  }

  const { lang } = document.documentElement
  const locale = lang === 'en' ? 'en-GB' : lang
  const digits = { maximumSignificantDigits: 3, notation: 'compact' }
  const few = new Intl.NumberFormat(locale, digits)
  const inUnit = (unit) =>
    new Intl.NumberFormat(locale, { ...digits, style: 'unit', unit, unitDisplay: 'narrow' })
  const [seconds, megabytes] = [inUnit('second'), inUnit('megabyte')]
  function formatIn(unit) {
    return (value) => {
      if (value === null || value === undefined) return '–'
      if (unit === 'time') return seconds.format(value)
      if (unit === 'bytes') return megabytes.format(value / 1e6)
      return few.format(value)
    }
  }

  const time = { hour: '2-digit', minute: '2-digit' }
  const day = { day: 'numeric', month: 'short' }
  /** Formats seconds: as times of day within two days, as days otherwise; both without a range. */
  function timeIn(range) {
    const seconds = (range.at(-1) ?? 0) - (range[0] ?? 0)
    const parts = range.length === 0 ? { ...day, ...time } : seconds < 172_800 ? time : day
    const format = new Intl.DateTimeFormat(locale, { ...parts, timeZone: 'UTC' })
    return (at) => format.format(at * 1000)
  }

  function draw(figure, place, { fromSeconds, stepSeconds, unit, lines }) {
    const format = formatIn(unit)
    const times = (lines[0]?.values ?? []).map((_, step) => fromSeconds + step * stepSeconds)
    const quiet = styleOf('--sp-quiet')
    const axis = {
      stroke: quiet,
      grid: { stroke: styleOf('--pico-muted-border-color'), width: 1 },
      ticks: { stroke: quiet, width: 1 },
    }
    const options = {
      width: Math.max(place.clientWidth, size.widthMin),
      height: size.height,
      tzDate: (seconds) => window.uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
      scales: { y: { range: (_, least, most) => [Math.min(0, least ?? 0), (most || 1) * 1.05] } },
      axes: [
        { ...axis, values: (_, seconds) => seconds.map(timeIn(seconds)) },
        { ...axis, size: 70, values: (_, values) => values.map(format) },
      ],
      series: [
        { label: 'UTC', value: (_, seconds) => (seconds ? timeIn([])(seconds) : '–') },
        ...lines.map(({ name }, index) => ({
          label: name,
          stroke: strokeOf(figure, index),
          dash: dashes[index % dashes.length],
          width: 1.5,
          value: (_, value) => format(value),
        })),
      ],
    }
    return new window.uPlot(options, [times, ...lines.map(({ values }) => values)], place)
  }

  async function zoom(figure, button) {
    button.disabled = true
    try {
      const [values] = await Promise.all([
        fetch(figure.dataset.values).then((answer) =>
          answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status))),
        ),
        loadPlot(figure.dataset),
      ])
      const region = figure.querySelector('.scroll')
      const place = Object.assign(document.createElement('div'), { className: 'drawn' })
      region.replaceChildren(place)
      draw(figure, place, values)
      button.remove()
      figure.querySelector('.hint').textContent = figure.dataset.hint
    } catch {
      button.disabled = false
      figure.querySelector('.hint').textContent = figure.dataset.failed
    }
  }

  for (const figure of document.querySelectorAll('figure[data-values]')) {
    const details = figure.querySelector('details')
    if (!details) continue
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      className: 'secondary outline',
      textContent: figure.dataset.zoom,
    })
    button.setAttribute('aria-describedby', figure.querySelector('figcaption').id)
    const hint = Object.assign(document.createElement('span'), { className: 'hint quiet' })
    hint.setAttribute('role', 'status')
    const line = Object.assign(document.createElement('p'), { className: 'inline-form' })
    line.append(button, hint)
    details.before(line)
    button.addEventListener('click', () => zoom(figure, button))
  }
})()
