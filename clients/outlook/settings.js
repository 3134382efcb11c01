// The page of settings beside a message: saves the token that the event script reads.
'use strict'

const PATIENCE_MS = 20_000

const allTexts = {
  en: {
    title: 'Report spam from Outlook',
    lead: 'Connect Outlook with your account, once. Then “Report spam” sends the open message.',
    get: 'Make a token (opens your account)',
    paste: 'Copy it, and paste it here.',
    token: 'Token',
    save: 'Save and test',
    forget: 'Disconnect',
    connected: 'Connected. You can report messages now.',
    stored: 'A token is saved. To replace it, paste another one.',
    forgotten: 'Disconnected. Outlook no longer has your token.',
    signedOut: 'This token is not valid, or it may not report. Make a new one.',
    away: 'The service did not answer. Nothing was saved. Try again later.',
    notSaved: 'Outlook could not save the token. Try again later.',
  },
  fr: {
    title: 'Signaler un spam depuis Outlook',
    lead:
      'Reliez Outlook à votre compte, une seule fois. ' +
      '« Signaler un spam » enverra ensuite le message ouvert.',
    get: 'Créer un jeton (ouvre votre compte)',
    paste: 'Copiez-le et collez-le ici.',
    token: 'Jeton',
    save: 'Enregistrer et tester',
    forget: 'Déconnecter',
    connected: 'Connecté. Vous pouvez maintenant signaler des messages.',
    stored: 'Un jeton est enregistré. Pour le remplacer, collez-en un autre.',
    forgotten: 'Déconnecté. Outlook n’a plus votre jeton.',
    signedOut: 'Ce jeton n’est pas valide, ou ne permet pas de signaler. Créez-en un autre.',
    away: 'Le service n’a pas répondu. Rien n’a été enregistré. Réessayez plus tard.',
    notSaved: 'Outlook n’a pas pu enregistrer le jeton. Réessayez plus tard.',
  },
  ru: {
    title: 'Жалобы на спам из Outlook',
    lead:
      'Один раз свяжите Outlook со своей учётной записью. ' +
      'Затем кнопка «Пожаловаться на спам» отправит открытое письмо.',
    get: 'Создать токен (откроется учётная запись)',
    paste: 'Скопируйте его и вставьте сюда.',
    token: 'Токен',
    save: 'Сохранить и проверить',
    forget: 'Отключить',
    connected: 'Готово. Теперь можно отправлять жалобы.',
    stored: 'Токен сохранён. Чтобы заменить его, вставьте другой.',
    forgotten: 'Отключено. В Outlook больше нет вашего токена.',
    signedOut: 'Токен недействителен или не даёт права жаловаться. Создайте новый.',
    away: 'Сервис не ответил. Ничего не сохранено. Повторите позже.',
    notSaved: 'Outlook не смог сохранить токен. Повторите позже.',
  },
}

Office.onReady(() => {
  const language = String(Office.context.displayLanguage).slice(0, 2).toLowerCase()
  const texts = allTexts[language] ?? allTexts.en
  document.documentElement.lang = allTexts[language] ? language : 'en'
  for (const element of document.querySelectorAll('[data-text]')) {
    element.textContent = texts[element.dataset.text]
  }
  const settings = Office.context.roamingSettings
  const [form, forget, result] = ['form', 'forget', 'result'].map((id) =>
    document.getElementById(id),
  )
  const show = (name, isGood) => {
    result.textContent = texts[name]
    result.className = isGood ? 'good' : 'bad'
    forget.hidden = !settings.get('token')
  }
  if (settings.get('token')) show('stored', true)

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const token = form.elements.token.value.trim()
    const answer = await testToken(token)
    if (answer !== 'connected') return show(answer, false)
    settings.set('token', token)
    if (!(await save(settings))) return show('notSaved', false)
    form.reset()
    show('connected', true)
  })
  forget.addEventListener('click', async () => {
    settings.remove('token')
    show((await save(settings)) ? 'forgotten' : 'notSaved', true)
  })
})

/** Asks the service whether the token may report. */
async function testToken(token) {
  try {
    const response = await fetch('/api/v1/account', {
      headers: { authorization: `Bearer ${token}` },
      credentials: 'omit',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (response.status === 401 || response.status === 403) return 'signedOut'
    if (!response.ok) return 'away'
    const { scopes } = await response.json()
    return Array.isArray(scopes) && scopes.includes('report') ? 'connected' : 'signedOut'
  } catch {
    return 'away'
  }
}

/** Saves the settings in the mailbox; resolves to whether that worked. */
function save(settings) {
  return new Promise((resolve) => {
    settings.saveAsync(({ status }) => resolve(status === Office.AsyncResultStatus.Succeeded))
  })
}
