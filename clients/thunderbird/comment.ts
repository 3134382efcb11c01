import type { Request } from './background.ts'
import type { Kind } from './queue.ts'
import { formOf, translatePage } from './translate.ts'

translatePage()
const form = formOf()

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const data = new FormData(form)
  const ids = new URLSearchParams(location.search).get('ids') ?? ''
  const request: Request = {
    do: 'report',
    ids: ids.split(',').filter(Boolean).map(Number),
    kind: String(data.get('kind')) as Kind,
    comment: String(data.get('comment')).trim(),
  }
  await messenger.runtime.sendMessage(request)
  window.close()
})
