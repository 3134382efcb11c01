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
    letterTitle: 'Show your mail servers',
    letterLead:
      'Your reports reach the right network if the service knows which mail servers receive ' +
      'your mail. A test message shows them.',
    letterAsk: 'Send me a test message',
    sent:
      'The message is on its way to the address of your account. When it arrives, report it ' +
      'with “Report spam”. It is not counted as spam.',
    underWay:
      'A test message was sent to the address of your account. When it arrives, report it ' +
      'with “Report spam”. Also look in the junk folder.',
    known: 'Nothing to do: a test message has already shown your mail servers.',
    noMail: 'The service sends no mail. Ask its operator.',
    tooOften: 'Three test messages were sent within a day. Try again tomorrow.',
    noAnswer: 'The service did not answer. Try again later.',
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
    letterTitle: 'Montrer vos serveurs de messagerie',
    letterLead:
      'Vos signalements vont au bon réseau si le service sait quels serveurs reçoivent votre ' +
      'courrier. Un message de test les montre.',
    letterAsk: 'M’envoyer un message de test',
    sent:
      'Le message part vers l’adresse de votre compte. À son arrivée, signalez-le avec « ' +
      'Signaler un spam ». Il n’est pas compté comme spam.',
    underWay:
      'Un message de test a été envoyé à l’adresse de votre compte. À son arrivée, ' +
      'signalez-le avec « Signaler un spam ». Regardez aussi dans les courriers indésirables.',
    known: 'Rien à faire : un message de test a déjà montré vos serveurs de messagerie.',
    noMail: 'Le service n’envoie pas de courrier. Adressez-vous à son administrateur.',
    tooOften: 'Trois messages de test ont été envoyés en un jour. Réessayez demain.',
    noAnswer: 'Le service n’a pas répondu. Réessayez plus tard.',
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
    letterTitle: 'Показать ваши почтовые серверы',
    letterLead:
      'Жалобы попадут в нужную сеть, если сервис знает, какие серверы принимают вашу почту. ' +
      'Проверочное письмо покажет их.',
    letterAsk: 'Прислать мне проверочное письмо',
    sent:
      'Письмо отправлено на адрес вашей учётной записи. Когда оно придёт, отправьте на него ' +
      'жалобу кнопкой «Пожаловаться на спам». Спамом оно не считается.',
    underWay:
      'Проверочное письмо уже отправлено на адрес вашей учётной записи. Когда оно придёт, ' +
      'отправьте на него жалобу кнопкой «Пожаловаться на спам». Загляните и в папку ' +
      'нежелательной почты.',
    known: 'Ничего делать не нужно: проверочное письмо уже показало ваши почтовые серверы.',
    noMail: 'Сервис не отправляет писем. Обратитесь к его администратору.',
    tooOften: 'За день отправлено три проверочных письма. Повторите завтра.',
    noAnswer: 'Сервис не ответил. Повторите позже.',
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
  const [form, forget, result, letter, ask, said] = [
    ...['form', 'forget', 'result', 'letter', 'ask', 'said'],
  ].map((id) => document.getElementById(id))
  const show = (name, isGood) => {
    result.textContent = texts[name]
    result.className = isGood ? 'good' : 'bad'
    forget.hidden = !settings.get('token')
    letter.hidden = forget.hidden
  }
  if (settings.get('token')) show('stored', true)
  ask.addEventListener('click', async () => {
    ask.disabled = true
    const answer = await askForLetter(settings.get('token'))
    said.textContent = texts[answer]
    said.className = ['sent', 'underWay', 'known'].includes(answer) ? 'good' : 'bad'
    ask.disabled = answer !== 'noAnswer'
  })

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

const letterResults = { sent: 'sent', 'under-way': 'underWay', known: 'known', 'no-mail': 'noMail' }

/** Asks the service for a message that shows the mail servers of the account. */
async function askForLetter(token) {
  try {
    const response = await fetch('/api/v1/test-messages', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      credentials: 'omit',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (response.status === 401 || response.status === 403) return 'signedOut'
    if (response.status === 429) return 'tooOften'
    const { state } = await response.json()
    return letterResults[state] ?? 'noAnswer'
  } catch {
    return 'noAnswer'
  }
}

/** Saves the settings in the mailbox; resolves to whether that worked. */
function save(settings) {
  return new Promise((resolve) => {
    settings.saveAsync(({ status }) => resolve(status === Office.AsyncResultStatus.Succeeded))
  })
}
