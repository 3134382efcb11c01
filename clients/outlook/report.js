// Reports the message for which Outlook raises the event SpamReporting. Outlook for Windows runs
// this file alone: without page, imports, local storage and Office.onReady, and with the syntax of
// ECMAScript 2016.
;(function () {
  'use strict'

  // The service replaces this with its address when it serves the file.
  const SERVER = '{server}'
  // Outlook stops the script after five minutes and then shows an error of its own.
  const PATIENCE_MS = 120000
  const COMMENT_CHARS_MAX = 2000
  const REPORT_ID = /^[0-9a-f-]{36}$/

  const texts = {
    en: {
      accepted: 'Thank you. Your report was received.',
      lacksWayIn:
        'Thank you. Your report was received. The service does not know your mail servers yet: ' +
        'open “Signalpost settings” and press “Send me a test message”.',
      noToken: 'Nothing was reported. Open “Signalpost settings” and connect your account first.',
      signedOut: 'Nothing was reported. Save a valid token in “Signalpost settings”.',
      unreadable: 'Nothing was reported: Outlook could not provide the message.',
      refused: 'The service refused the message.',
      away: 'The service did not confirm the report. Please report the message again later.',
    },
    fr: {
      accepted: 'Merci. Votre signalement a été reçu.',
      lacksWayIn:
        'Merci. Votre signalement a été reçu. Le service ne connaît pas encore vos serveurs de ' +
        'messagerie : ouvrez « Paramètres Signalpost » et cliquez sur « M’envoyer un message de ' +
        'test ».',
      noToken:
        'Rien n’a été signalé. Ouvrez « Paramètres Signalpost » et enregistrez d’abord un jeton.',
      signedOut:
        'Rien n’a été signalé. Enregistrez un jeton valide dans « Paramètres Signalpost ».',
      unreadable: 'Rien n’a été signalé : Outlook n’a pas pu fournir le message.',
      refused: 'Le service a refusé le message.',
      away: 'Le service n’a pas confirmé le signalement. Signalez de nouveau le message plus tard.',
    },
    ru: {
      accepted: 'Спасибо. Ваша жалоба получена.',
      lacksWayIn:
        'Спасибо. Ваша жалоба получена. Сервис ещё не знает ваших почтовых серверов: откройте ' +
        '«Настройки Signalpost» и нажмите «Прислать мне проверочное письмо».',
      noToken: 'Жалоба не отправлена. Сначала сохраните токен в «Настройках Signalpost».',
      signedOut: 'Жалоба не отправлена. Сохраните действующий токен в «Настройках Signalpost».',
      unreadable: 'Жалоба не отправлена: Outlook не смог передать письмо.',
      refused: 'Сервис отклонил письмо.',
      away: 'Сервис не подтвердил жалобу. Отправьте её ещё раз позже.',
    },
  }

  /** Reports the message of the event. Completes the event exactly once, whatever happens. */
  function onSpamReport(event) {
    let isCompleted = false
    let timer
    function complete(result) {
      if (isCompleted) return
      isCompleted = true
      clearTimeout(timer)
      event.completed(outcomeOf(result))
    }
    timer = setTimeout(function () {
      complete('away')
    }, PATIENCE_MS)
    report(event).then(complete, function () {
      complete('away')
    })
  }

  /** Returns a promise of the name of the result. */
  function report(event) {
    return readToken().then(function (token) {
      if (token === '') return 'noToken'
      return readMessage().then(function (base64) {
        return base64 === '' ? 'unreadable' : post(token, reportOf(event, base64))
      })
    })
  }

  function readToken() {
    return new Promise(function (resolve) {
      const token = Office.context.roamingSettings.get('token')
      resolve(typeof token === 'string' ? token : '')
    })
  }

  /** Returns a promise of the message in base64; empty if Outlook does not provide it. */
  function readMessage() {
    return new Promise(function (resolve) {
      Office.context.mailbox.item.getAsFileAsync(function (file) {
        resolve(file.status === Office.AsyncResultStatus.Succeeded ? file.value || '' : '')
      })
    }).catch(function () {
      return ''
    })
  }

  /** The body for the API. The only choice of the dialog is phishing. */
  function reportOf(event, base64) {
    const body = { message_base64: base64, kind: 'spam' }
    if (event.options && event.options[0]) body.kind = 'phishing'
    const comment = (event.freeText || '').trim().slice(0, COMMENT_CHARS_MAX)
    if (comment !== '') body.comment = comment
    return body
  }

  /** Sends a report; returns a promise of the name of the result. */
  function post(token, body) {
    return fetch(SERVER + '/api/v1/reports', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      credentials: 'omit',
    }).then(function (response) {
      const status = response.status
      if (status === 401 || status === 403) return 'signedOut'
      if (status === 400 || status === 413 || status === 422) return 'refused'
      if (status !== 200 && status !== 202) return 'away'
      return response.json().then(function (receipt) {
        // Another site, such as the sign-in page of a network, may answer too.
        if (!receipt || !REPORT_ID.test(receipt.id)) return 'away'
        return receipt.way_in === 'unknown' ? 'lacksWayIn' : 'accepted'
      })
    })
  }

  /** Moves the message to Junk only after it was reported, and never lets Outlook delete it. */
  function outcomeOf(result) {
    const folders = Office.MailboxEnums.MoveSpamItemTo
    const isAccepted = result === 'accepted' || result === 'lacksWayIn'
    return {
      moveItemTo: isAccepted ? folders.JunkFolder : folders.NoMove,
      onErrorDeleteItem: false,
      showPostProcessingDialog: { title: 'Signalpost', description: textOf(result) },
    }
  }

  function textOf(result) {
    const language = String(Office.context.displayLanguage).slice(0, 2).toLowerCase()
    return (texts[language] || texts.en)[result]
  }

  Office.actions.associate('onSpamReport', onSpamReport)
})()
