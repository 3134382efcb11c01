// Improves the report form: files can be dropped, are listed, can be removed, and are sent with
// progress. What was understood of them is shown before they are sent. The form also works without
// this script. Its texts and limits are in data attributes of the form.
;(() => {
  'use strict'

  /** Bytes of a message to read before sending: enough for its subject, sender and first text. */
  const LOOK_BYTES_MAX = 256_000
  /** Archives are read whole, up to this size. */
  const ARCHIVE_BYTES_MAX = 4_000_000
  const LOOK_FILES_MAX = 10
  const PAUSE_MS = 400

  /** Whether a file may hold several messages; mailboxes often have no ending. */
  const isArchive = async (file) =>
    /\.(?:zip|msg|mbox)$/i.test(file.name) || /^From\s/.test(await file.slice(0, 5).text())
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
    area.append(chosen)
    button.after(bar, status, cancel)
    const pasted = form.querySelector('#raw')
    const understood = form.querySelector('#understood')
    const kinds = [...form.querySelectorAll('[name=kind]')]
    let files = []
    let sending
    let looks = 0
    let isKindChosen = false

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
      lookSoon()
    }

    /** The beginning of the chosen messages; undefined when there is nothing to look into. */
    async function beginnings() {
      const token = form.querySelector('[name=form_token]')
      const shared = [...form.querySelectorAll('[name^=shared]')]
      const isEmpty = files.length + shared.length === 0 && pasted.value.trim() === ''
      if (!token || isEmpty) return undefined
      const data = new FormData()
      for (const { name, value } of shared) data.append(name, value)
      data.append(token.name, token.value)
      data.append(pasted.name, pasted.value.slice(0, LOOK_BYTES_MAX))
      for (const file of files.slice(0, LOOK_FILES_MAX)) {
        const isWhole = await isArchive(file)
        if (isWhole && file.size > ARCHIVE_BYTES_MAX) return words.tooLarge
        const part = isWhole ? file : file.slice(0, LOOK_BYTES_MAX)
        data.append(input.name, part, file.name)
      }
      return data
    }

    async function look() {
      const turn = ++looks
      const data = await beginnings()
      if (turn !== looks) return
      understood.textContent =
        data === undefined ? '' : typeof data === 'string' ? data : words.look
      if (!(data instanceof FormData)) return
      try {
        const answer = await fetch('/report/look', { method: 'POST', body: data })
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
        const found = answer.ok && page.querySelector('#look')
        if (turn !== looks) return
        if (!found) throw new Error(String(answer.status))
        const guess = found.querySelector('[data-guess]')
        if (!isKindChosen)
          for (const one of kinds) one.checked = one.value === (found.dataset.kind ?? 'spam')
        if (guess) guess.hidden = isKindChosen
        understood.replaceChildren(...document.importNode(found, true).childNodes)
      } catch {
        // The messages can be sent without it.
        if (turn === looks) understood.textContent = ''
      }
    }

    let pause
    function lookSoon() {
      clearTimeout(pause)
      pause = setTimeout(look, PAUSE_MS)
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
    pasted.addEventListener('input', lookSoon)
    for (const one of kinds) one.addEventListener('change', () => (isKindChosen = true))
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
    else lookSoon()
  }

  /** Shows the response, which is the page that the form itself would have led to. */
  function showAnswer({ responseText }) {
    const answer = new DOMParser().parseFromString(responseText, 'text/html')
    document.title = answer.title
    const known = new Set([...document.scripts].map(({ src }) => src))
    document.body.replaceWith(document.adoptNode(answer.body))
    // A browser does not run the scripts of a parsed page.
    for (const script of [...document.scripts]) {
      if (!known.has(script.src)) script.replaceWith(element('script', { src: script.src }))
    }
    enhance()
    const main = document.querySelector('main')
    main?.focus()
    window.scrollTo(0, 0)
  }

  enhance()
})()
