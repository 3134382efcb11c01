// Helps people who decide about many lines in the administration. All pages also work without it.
;(() => {
  'use strict'

  const isChanged = (field) => {
    if (field instanceof HTMLSelectElement) {
      return [...field.options].some((one) => one.selected !== one.defaultSelected)
    }
    return field.value !== field.defaultValue
  }

  /** Marks the lines of a form that differ from what the server sent, and counts them. */
  function markEdits(form) {
    const state = form.querySelector('[data-edits-count]')
    const show = () => {
      let edits = 0
      for (const line of form.querySelectorAll('li')) {
        const isEdited = [...line.querySelectorAll('input, select')].some(isChanged)
        line.classList.toggle('edited', isEdited || line.hasAttribute('data-edited'))
        if (line.classList.contains('edited')) edits++
      }
      state.textContent = edits === 0 ? '' : state.dataset.editsCount.replace('{n}', edits)
    }
    form.addEventListener('input', show)
    show()
  }
  for (const form of document.querySelectorAll('form[data-edits]')) markEdits(form)

  /** The things of a list that a person goes through by keys. */
  const things = () => [...document.querySelectorAll('main .decisions > li, main tbody tr')]

  function show(thing) {
    document.querySelector('.at-hand')?.classList.remove('at-hand')
    thing.classList.add('at-hand')
    thing.tabIndex = -1
    thing.focus({ preventScroll: true })
    thing.scrollIntoView({ block: 'nearest' })
  }

  function step(by) {
    const all = things()
    const at = all.findIndex((one) => one.contains(document.activeElement))
    const from = at < 0 ? all.findIndex((one) => one.matches('.at-hand')) : at
    const next = all[from < 0 ? 0 : Math.min(all.length - 1, Math.max(0, from + by))]
    if (next) show(next)
  }

  function select() {
    const box = document.querySelector('.at-hand input[type="checkbox"]')
    box?.click()
  }

  const help = document.getElementById('keys')
  const isOff = () => localStorage.getItem('keys') === 'off'
  const actions = {
    j: () => step(1),
    k: () => step(-1),
    x: select,
    o: () => document.querySelector('.at-hand a[href]')?.click(),
    '?': () => help.showModal(),
  }
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (event.ctrlKey || event.altKey || event.metaKey || help.open) return
    if (target.closest('input:not([type="checkbox"]), select, textarea')) return
    // A person who turned the keys off turns them on again in the help.
    if (!Object.hasOwn(actions, key) || (isOff() && key !== '?')) return
    event.preventDefault()
    actions[key]()
  })
  const keysOn = help.querySelector('input')
  keysOn.checked = !isOff()
  keysOn.addEventListener('change', () => {
    if (keysOn.checked) localStorage.removeItem('keys')
    else localStorage.setItem('keys', 'off')
  })

  /** Offers to select all lines of a form, and counts the selected ones. */
  function countSelected(state) {
    const form = document.getElementById(state.dataset.form) ?? state.closest('form')
    const boxes = [...form.elements].filter((one) => one.matches('[data-choice]'))
    const all = state.closest('details, fieldset').querySelector('[data-all]')
    const count = () => {
      const chosen = boxes.filter((box) => box.checked).length
      state.textContent = chosen === 0 ? '' : state.dataset.selected.replace('{n}', chosen)
      all.checked = chosen > 0 && chosen === boxes.length
      all.indeterminate = chosen > 0 && chosen < boxes.length
      for (const button of form.querySelectorAll('[data-needs-choice]')) {
        button.disabled = chosen === 0
      }
    }
    all.addEventListener('change', () => {
      for (const box of boxes) box.checked = all.checked
    })
    // The boxes may be outside of their form.
    document.addEventListener('change', count)
    all.closest('label').hidden = false
    count()
  }
  for (const state of document.querySelectorAll('[data-selected]')) countSelected(state)

  const passing = ['after', 'before', 'below', 'done', 'count', 'lang']

  /** Leads back to the list as a person filtered it last, in this window. */
  function rememberFilters() {
    const filters = new URLSearchParams(location.search)
    for (const name of [...filters.keys()]) {
      if (passing.includes(name) || filters.get(name) === '') filters.delete(name)
    }
    sessionStorage.setItem(`filters ${location.pathname}`, String(filters))
    for (const link of document.querySelectorAll('.menu a, .back a')) {
      const kept = sessionStorage.getItem(`filters ${link.pathname}`)
      if (kept && link.search === '') link.setAttribute('href', `${link.pathname}?${kept}`)
    }
  }
  rememberFilters()
})()
