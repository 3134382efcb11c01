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
})()
