/** Composes a model in CatBoost's format with the same result for every message. */
export function sureModel(logOdds: number, feature = 'links.hosts'): Buffer {
  return Buffer.from(
    JSON.stringify({
      model_info: { params: { loss_function: { type: 'Logloss' } } },
      oblivious_trees: [{ leaf_values: [logOdds], leaf_weights: [1], splits: null }],
      features_info: {
        float_features: [
          {
            borders: [],
            feature_id: feature,
            feature_index: 0,
            flat_feature_index: 0,
            has_nans: false,
            nan_value_treatment: 'AsIs',
          },
        ],
      },
      scale_and_bias: [1, [0]],
    }),
  )
}

const lures = ['account', 'password', 'verify', 'locked', 'urgent', 'payment', 'invoice', 'click']
const chats = ['meeting', 'garden', 'lunch', 'draft', 'patch', 'weather', 'train', 'library']

/**
 * Composes a message for tests: bait that leads to a page, or an ordinary letter. Each number gives
 * another text, and every third message is untypical of its kind.
 */
export function labeledMessage(kind: 'phishing' | 'ham', number: number): Buffer {
  const isBait = (kind === 'phishing') !== (number % 3 === 0 && number % 2 === 0)
  const words = Array.from({ length: 60 }, (_, at) => {
    const list = isBait ? lures : chats
    return `${list[(number * 7 + at * 3) % list.length] ?? ''}${inLetters(number * 31 + at * 17)}`
  })
  const link = isBait
    ? `https://secure.bank-${number}.example/verify?id=${number}`
    : `https://www.club-${number}.example/notes/${number}`
  const minute = String(number % 60).padStart(2, '0')
  const hour = String(Math.floor(number / 60) % 24).padStart(2, '0')
  const form = `<form action="https://evil-${number}.example/a"><input></form>`
  return Buffer.from(
    [
      `Received: from mail.example (mail.example [192.0.2.${number % 250}])`,
      ` by mx.provider.example with ESMTP id ${number};`,
      ` Mon, 16 Nov 2026 ${hour}:${minute}:00 +0000`,
      isBait ? `From: "Bank Support" <x${number}@free.example>` : 'From: Ann <ann@club.example>',
      'To: you@provider.example',
      isBait ? `Subject: URGENT! ${number}!!` : `Subject: Notes ${number}`,
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      `Message-ID: <${kind}-${number}@mail.example>`,
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=utf-8',
      '',
      `<html><body>${isBait ? form : ''}`,
      `<p>${words.join(' ')}</p><a href="${link}">${isBait ? `https://bank.example` : 'notes'}</a>`,
      '</body></html>',
      '',
    ].join('\r\n'),
  )
}

/** Writes a number in letters, because texts that differ only in digits belong to one campaign. */
function inLetters(number: number): string {
  return Array.from(String((number * 7919) % 9973), (digit) => 'bcdfghklmn'[Number(digit)]).join('')
}
