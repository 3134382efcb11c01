// Improves the file field of the report form: files can be dropped, are listed, can be removed, and
// are sent with progress. The form also works without this script. Its texts and limits are in data
// attributes of the form.
;(() => {
  'use strict'

  const shownMegabytes = (bytes) => Math.floor(bytes / 1_000_000)
  const filled = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')

  function element(name, properties = {}, children = []) {
    const made = Object.assign(document.createElement(name), properties)
    made.append(...children)
    return made
  }

  function sizeOf(bytes) {
    const unit = bytes < 1_000_000 ? 'kilobyte' : 'megabyte'
    const value = bytes / (bytes < 1_000_000 ? 1_000 : 1_000_000)
    const format = { style: 'unit', unit, maximumFractionDigits: 1 }
    return new Intl.NumberFormat(document.documentElement.lang, format).format(value)
  }

  function enhance() {
    const form = document.querySelector('form#report')
    if (!form) return
    const words = form.dataset
    const input = form.querySelector('#messages')
    const area = form.querySelector('#drop')
    const button = form.querySelector('button[type=submit]')
    const list = element('ul', { className: 'files' })
    const chosen = element('div', { hidden: true }, [
      element('p', { textContent: words.chosen }),
      list,
    ])
    const bar = element('progress', { max: 100, hidden: true, ariaLabel: words.progress })
    const cancel = element('button', { type: 'button', hidden: true, textContent: words.cancel })
    cancel.className = 'secondary outline'
    const status = element('p', { className: 'status' })
    status.setAttribute('role', 'status')
    area.append(element('p', { className: 'quiet', textContent: words.drop }), chosen)
    button.after(bar, status, cancel)
    let files = []
    let sending

    function choose(added) {
      const refused = []
      for (const file of added) {
        const isKnown = files.some(
          ({ name, size, lastModified }) =>
            name === file.name && size === file.size && lastModified === file.lastModified,
        )
        if (file.size > Number(words.fileBytesMax)) refused.push(file)
        else if (!isKnown) files.push(file)
      }
      show()
      const limit = shownMegabytes(words.fileBytesMax)
      if (refused.length > 0) {
        say(refused.map(({ name }) => filled(words.fileTooBig, { name, limit })).join(' '))
      } else say(isTooMuch() ? tooMuch() : '')
    }

    function show() {
      list.replaceChildren(...files.map(shownFile))
      // The data that the form itself would send, and the number of messages in its text field.
      const all = new DataTransfer()
      for (const file of files) all.items.add(file)
      input.files = all.files
      chosen.hidden = files.length === 0
    }

    function shownFile(file) {
      const remove = element('button', { type: 'button', textContent: '×' })
      remove.className = 'secondary outline'
      remove.ariaLabel = filled(words.remove, { name: file.name })
      remove.addEventListener('click', () => {
        const at = files.indexOf(file)
        files.splice(at, 1)
        show()
        say(isTooMuch() ? tooMuch() : '')
        ;(list.querySelectorAll('button')[Math.min(at, files.length - 1)] ?? input).focus()
      })
      const name = element('span', { className: 'stranger', textContent: file.name })
      const size = element('span', { className: 'quiet', textContent: sizeOf(file.size) })
      return element('li', {}, [name, ' ', size, ' ', remove])
    }

    const isTooMuch = () =>
      files.reduce((sum, { size }) => sum + size, 0) > Number(words.uploadBytesMax)
    const tooMuch = () => filled(words.allTooBig, { limit: shownMegabytes(words.uploadBytesMax) })

    function say(text) {
      status.textContent = text
    }

    function send() {
      const data = new FormData(form)
      const request = new XMLHttpRequest()
      sending = request
      request.upload.addEventListener('progress', ({ loaded, total }) => {
        const percent = total > 0 ? Math.floor((loaded / total) * 100) : 0
        bar.value = percent
        const step = filled(words.sending, { percent: percent - (percent % 10) })
        if (status.textContent !== step) say(step)
      })
      request.upload.addEventListener('load', () => {
        bar.removeAttribute('value')
        say(words.reading)
      })
      request.addEventListener('load', () => showAnswer(request))
      request.addEventListener('error', () => stop(words.failed))
      request.addEventListener('abort', () => stop(words.stopped))
      request.open('POST', form.action)
      begin()
      request.send(data)
    }

    function begin() {
      bar.value = 0
      bar.hidden = cancel.hidden = false
      button.disabled = true
      say(filled(words.sending, { percent: 0 }))
    }

    function stop(text) {
      bar.hidden = cancel.hidden = true
      button.disabled = false
      sending = undefined
      say(text)
      button.focus()
    }

    input.addEventListener('change', () => choose([...input.files]))
    cancel.addEventListener('click', () => sending?.abort())
    form.addEventListener('submit', (event) => {
      if (files.length === 0) return
      event.preventDefault()
      if (isTooMuch()) say(tooMuch())
      else send()
    })
    for (const kind of ['dragover', 'dragleave', 'drop']) {
      area.addEventListener(kind, (event) => {
        if (!event.dataTransfer?.types.includes('Files')) return
        event.preventDefault()
        area.classList.toggle('over', kind === 'dragover')
        if (kind === 'drop') choose([...event.dataTransfer.files])
      })
    }
    // The user may have chosen files before the script was loaded.
    if (input.files.length > 0) choose([...input.files])
  }

  /** Shows the response, which is the page that the form itself would have led to. */
  function showAnswer({ responseText }) {
    const answer = new DOMParser().parseFromString(responseText, 'text/html')
    document.title = answer.title
    document.body.replaceWith(document.adoptNode(answer.body))
    enhance()
    const main = document.querySelector('main')
    main?.focus()
    window.scrollTo(0, 0)
  }

  enhance()
})()
