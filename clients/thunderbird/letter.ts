import { askForLetter } from './service.ts'
import { readSettings } from './stored-settings.ts'
import { translatePage } from './translate.ts'

translatePage()
const button = document.getElementById('ask')
const said = document.getElementById('said')

button?.addEventListener('click', async () => {
  button.setAttribute('disabled', '')
  const { settings } = await readSettings()
  const result = await askForLetter(settings)
  const isGood = result === 'sent' || result === 'under-way' || result === 'known'
  said?.replaceChildren(messenger.i18n.getMessage(`letter_${result.replace('-', '_')}`))
  said?.setAttribute('class', isGood ? 'good' : 'bad')
  if (result === 'away') button.removeAttribute('disabled')
})
