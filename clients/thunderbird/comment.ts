import type { Request } from './background.ts'
import type { Kind } from './queue.ts'
import { formOf, translatePage } from './translate.ts'

translatePage()
const form = formOf()
const ids = new URLSearchParams(location.search).get('ids') ?? ''
const messages = await Promise.all(
  ids
    .split(',')
    .filter(Boolean)
    .map((id) => messenger.messages.get(Number(id))),
)
const [first, ...others] = messages
const about = others.length > 0 ? String(messages.length) : (first?.subject ?? '')
const heading = messenger.i18n.getMessage(others.length > 0 ? 'messages' : 'message', about)
document.getElementById('about')?.replaceChildren(heading)

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const data = new FormData(form)
  form.querySelector('button')?.setAttribute('disabled', '')
  const request: Request = {
    do: 'report',
    messages,
    kind: String(data.get('kind')) as Kind,
    comment: String(data.get('comment')).trim(),
  }
  await messenger.runtime.sendMessage(request)
  window.close()
})
