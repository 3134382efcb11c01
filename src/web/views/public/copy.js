// Shows the buttons that copy a text.
;(() => {
  'use strict'

  if (!navigator.clipboard) return
  for (const button of document.querySelectorAll('[data-copy][hidden]')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
      button.textContent = button.dataset.copied
    })
  }
})()
