import { type AnswerKind } from '../verp.ts'

const linesRead = 3
const lineCharsMax = 120

const it =
  '(?:(?:this|the|that|it)(?: \\w{1,12}){0,2} ' +
  '(?:is|was|has been|should be|were) (?:now |already )?)?'
const ilEst =
  "(?:(?:c['’]est|cela est|le problème (?:est|a été)|il est|a été) )?(?:maintenant |déjà )?"
const esIst = '(?:(?:das|dies|es|das problem) (?:ist|wurde) )?(?:jetzt |bereits |schon )?'
const eto = '(?:(?:проблема|вопрос|это|уже) )?(?:уже |была |был )?'
const acted = '(?:resolved|fixed|solved|blocked|suspended|terminated|removed|disabled|taken down)'
const object = '(?:issue|problem|customer|account|host|server|user|page|site|domain|link|url)'
const thing = '(?:ip|address|network|host|server|domain|range)'
const owned = '(?:ip|address|ip address|network|host|server|customer|range|domain|user)'
const chose = '(?:adresse|ip|réseau|client|serveur)'
const ceasing = "(?:stop|do not|don['’]t)"
const writing = '(?:sending|send|mailing|emailing|writing|write)'
const toUs = '(?:(?: to)? (?:us|me))?'
const which = '(?: (?:any ?more|these|this|such|your|more|any))?'
const mails = '(?: (?:reports?|e-?mails?|messages?|mails?))?'

/**
 * Patterns of whole sentences with a single meaning, including optional words at their beginning.
 */
const sentences: readonly (readonly [AnswerKind, readonly string[]])[] = [
  [
    'resolved',
    [
      `${it}(?:resolved|fixed|solved|taken care of|dealt with|cleaned up|mitigated)`,
      `${it}(?:removed|taken (?:down|offline))`,
      '(?:the |this )?(?:page|site|link|url) (?:removed|(?:is )?down)',
      '(?:the |this )?(?:issue|problem|case|matter) (?:resolved|fixed|solved|closed)',
      `we (?:have |had )?(?:now )?${acted} (?:it|this|the ${object})`,
      `${ilEst}(?:résolue?|réglée?|corrigée?)`,
      "(?:nous avons|j['’]ai) (?:résolu|réglé|corrigé) (?:le problème|cela)",
      `${esIst}(?:erledigt|behoben|gelöst)`,
      'problem (?:behoben|gelöst)',
      `${eto}(?:решен[ао]?|исправлен[ао]?|устранен[ао]?)`,
    ],
  ],
  [
    'not-ours',
    [
      `(?:(?:this|that|it)(?: ${thing})?(?: address)? (?:is|are) )?not (?:ours|us|our ${owned})`,
      'wrong (?:address|network|company|provider|contact|department|recipient)',
      `(?:this|that|the|it)?(?: ?${thing}){0,2} ?(?:does not|doesn['’]t) belong to us`,
      "we (?:do not|don['’]t) (?:own|manage|operate|run|host) " +
        `(?:this|that|the|it)(?: ${thing}){0,2}`,
      "(?:(?:ce|cela|cette adresse|cette ip) )?(?:n['’]est )?" +
        `pas (?:à nous|chez nous|de chez nous|notre ${chose})`,
      'mauvaise? (?:adresse|destinataire|réseau)',
      'nicht (?:unser(?:e|s|er)?|von uns)(?: (?:adresse|ip|netz|server|kunde))?',
      '(?:falsche adresse|falscher empfänger|falsches netz)',
      '(?:(?:das|die adresse|die ip) )?gehört (?:uns nicht|nicht (?:zu )?uns)',
      '(?:это )?не (?:наш[аеи]?|к нам)(?: (?:адрес|сеть|сервер|клиент|ip))?',
      '(?:неверный|неправильный) адрес',
    ],
  ],
  [
    'wrong',
    [
      '(?:this|the|your) report is (?:wrong|incorrect|mistaken)',
      '(?:wrong|incorrect|false) report|false positive',
      '(?:(?:this|that|it) (?:is|was) (?:not|no)|not) (?:spam|phishing|abuse)',
      "(?:ce n['’]est )?pas (?:un |du )?spam|(?:rapport|signalement) (?:erroné|incorrect)",
      '(?:das ist )?kein spam|falsche meldung|(?:это )?не спам|ошибочная жалоба',
    ],
  ],
  [
    'stop',
    [
      'stop|unsubscribe(?: me| us)?',
      'remove (?:me|us)(?: from (?:your|this|the) (?:list|mailing list))?',
      `(?:please )?${ceasing} ${writing}${toUs}${which}${mails}${toUs}`,
      'arrêtez|arrêter|désabonne(?:r|z)?(?:[- ](?:moi|nous))?',
      'désinscri(?:re|vez)(?:[- ](?:moi|nous))?',
      "ne (?:nous|m['’]?) ?(?:écrivez|envoyez) plus",
      'stopp|abmelden|abbestellen',
      'bitte (?:keine|nicht) (?:weiteren |mehr )?(?:mails|nachrichten|schreiben|senden)',
      'стоп|отписать(?:ся)?|отпишите(?: (?:меня|нас))?|больше не (?:пишите|присылайте)',
    ],
  ],
]

const thanks = "please|thanks|thank you|merci|bitte|danke|s['’]il vous plaît|пожалуйста|спасибо"
const before = `(?:(?:pls|kindly|${thanks})[, ]*)?`
const after = `(?: ?(?:now|already|today|${thanks}))?`
const forms = sentences.flatMap(([kind, all]) =>
  all.map((one) => [kind, new RegExp(`^${before}(?:${one})${after}$`, 'u')] as const),
)

const salutations = [
  'hi|hello|hey|dear|good (?:morning|day|afternoon|evening)|greetings',
  'bonjour|bonsoir|salut|madame|monsieur|hallo|guten (?:tag|morgen|abend)',
  'sehr geehrte\\S{0,2}|moin|здравствуйте|добрый (?:день|вечер)|доброе утро|привет|уважаем\\S{1,4}',
].join('|')
const greeting = new RegExp(`^(?:${salutations})(?!\\p{L})[^.!?:;]{0,60}$`, 'iu')

/**
 * The answer in a person's own words, if it is unambiguous: the first sentence after the greeting,
 * as a whole, matches one of the patterns in `sentences`. Undefined when it matches none, and when
 * a sentence in the first three lines asks, denies, sets a condition or gives another answer.
 */
export function answerIn(words: string): AnswerKind | undefined {
  const found = new Set<AnswerKind>()
  for (const [index, sentence] of firstSentences(words).entries()) {
    if (sentence === undefined) return undefined
    const kind = forms.find(([, form]) => form.test(sentence))?.[0]
    // The first sentence is the answer; later ones explain it and may contradict it.
    if (index === 0 && kind === undefined) return undefined
    if (kind !== undefined) found.add(kind)
    else if (against.test(sentence)) return undefined
  }
  return found.size === 1 ? [...found][0] : undefined
}

/**
 * The sentences of the first three lines after the greeting; a question, or a sentence of a line
 * that is too long, becomes undefined.
 */
function firstSentences(words: string): (string | undefined)[] {
  const lines = words
    .slice(0, 4000)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const from = greeting.test((lines[0] ?? '').replace(/[,!.]+$/, '')) ? 1 : 0
  const first = lines.slice(from, from + linesRead)
  return first.flatMap((line) =>
    (line.slice(0, lineCharsMax).match(/[^.!?;]+[.!?;]*/g) ?? []).map((sentence) => {
      if (sentence.includes('?') || line.length > lineCharsMax) return undefined
      const plain = sentence.toLowerCase().replace(/^[\s"'«»*_#-]+|[\s"'«»*_,.!:;)-]+$/g, '')
      return plain.replace(/\s+/g, ' ')
    }),
  )
}

const against = new RegExp(
  [
    "\\b(?:but|however|unless|except|if|until|not|cannot|can[’']?t|isn[’']?t|never|still|yet)\\b",
    '\\b(?:mais|sauf|pas|aber|nicht|wenn|noch)\\b|(?:^|\\s)(?:но|не|если|ещё|еще|пока)(?:\\s|$)',
  ].join('|'),
  'iu',
)
