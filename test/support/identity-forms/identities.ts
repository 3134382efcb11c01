import {
  addressNeedles,
  localNeedles,
  nameNeedles,
  type Needle,
  singleNeedles,
  squeezed,
  telephoneNeedles,
  tokenNeedles,
} from './needles.ts'

/** What an identity is, which decides the ways in which it can be written. */
export type Category =
  | 'port'
  | 'address'
  | 'local'
  | 'full name'
  | 'single name'
  | 'telephone'
  | 'token'
  | 'domain'

/** How the program can know an identity: from the account, or from a field of the message. */
const addressSources = [
  'account',
  'Delivered-To',
  'X-Original-To',
  'Received for',
  'To',
  'Cc',
] as const
const nameSources = ['account', 'To', 'Cc', 'address'] as const

type Source = (typeof addressSources)[number] | (typeof nameSources)[number]

/** What tells the program about an identity. */
export type Declaration = { by: Source } & (
  | { kind: 'address'; address: string; name?: string | undefined }
  | { kind: 'name' | 'user name' | 'telephone'; text: string }
)

/** One identity in one message: its text, and what must not be found. */
export type Value = {
  text: string
  needles: readonly Needle[]
  declarations: readonly Declaration[]
}

/** Returns an item of a list by chance. */
export type Pick = <T>(list: readonly [T, ...T[]]) => T

export type Identity = { name: string; category: Category; make: (pick: Pick) => Value }

type Name = readonly [first: string, last: string]
type Pool = { first: readonly [string, ...string[]]; last: readonly [string, ...string[]] }

/**
 * Names that are no words of a dictionary, of different lengths. The text of a feedback report
 * contains none of them.
 */
const pools = {
  Latin: {
    first: ['Jane', 'Alizra', 'Jorunn', 'Tamsyn', 'Oluwaseyi', 'Bronagh', 'Katarzyna', 'Xiomara'],
    last: ['Kowalczyk', 'Quarrelroe', 'Abernathey', 'Featherstonhaugh', 'Oyelaran', 'Wunderlind'],
  },
  accented: {
    first: ['Noëla', 'Łucja', 'Thảo', 'Åsbjørn', 'Ümit', 'Jürgen', 'Renée', 'Željko'],
    last: ['Müllerström', 'Świątkowska', 'Nguyễndinh', 'Gonçalvesão', 'Işıkoğlu', 'Dvořáčková'],
  },
  Cyrillic: {
    first: ['Алиса', 'Дмитрий', 'Светлана', 'Ярослав'],
    last: ['Вондерландова', 'Щербаковский', 'Жуковинская', 'Пшеничников'],
  },
  Greek: {
    first: ['Αλίκη', 'Δημήτρης', 'Ευφροσύνη'],
    last: ['Παπαδοπούλου', 'Θαυμαστίδης', 'Χατζηγιάννης'],
  },
  Chinese: { first: ['小明', '秀英', '志强'], last: ['欧阳', '司马', '诸葛'] },
  Japanese: { first: ['さくら', '健太郎', 'ゆり子'], last: ['長谷川', '小鳥遊', '五十嵐'] },
  Korean: { first: ['민준', '서연', '지우'], last: ['황보', '남궁', '제갈'] },
  Arabic: { first: ['محمود', 'فاطمة', 'ياسمين'], last: ['العليوي', 'الخوارزمي', 'بنعبدالله'] },
  Hebrew: { first: ['אביגיל', 'יהונתן'], last: ['רוזנצוויג', 'אבוטבול'] },
  Devanagari: { first: ['प्रियंका', 'अनिरुद्ध'], last: ['चट्टोपाध्याय', 'भट्टाचार्य'] },
} satisfies Record<string, Pool>

const domains = ['inbox.test', 'mail.inbox.test', 'postbox.example'] as const

/** The identities, each with each way in which the program can know it. */
export const identities: readonly Identity[] = [
  ...addresses(),
  ...locals(),
  ...names(),
  ...numbers(),
  ...families(),
  ...tokens(),
  portNumber(),
]

function addresses(): Identity[] {
  const kinds: Record<string, (pick: Pick) => string> = {
    address: (pick) => `${plain(pick)}${digits(pick, 3)}@${pick(domains)}`,
    'address with dots': (pick) => `${plain(pick)}.${word(pick)}@${pick(domains)}`,
    'address with plus tag': (pick) =>
      `${plain(pick)}${digits(pick, 2)}+${word(pick)}@${pick(domains)}`,
    'Gmail address with dots': (pick) =>
      `${letters(pick, 2)}.${word(pick)}.${digits(pick, 3)}@gmail.com`,
    'short address': (pick) => `${letters(pick, 1)}.${letters(pick, 2)}@${pick(domains)}`,
    'long address': (pick) =>
      `${word(pick)}_${plain(pick)}-${word(pick)}.${digits(pick, 6)}@${pick(domains)}`,
    'address in capitals': (pick) => `${plain(pick)}.${word(pick)}@${pick(domains)}`.toUpperCase(),
    'numeric address': (pick) => `${digits(pick, 9)}@${pick(['qq.com', 'inbox.test'])}`,
    'address with IDN': (pick) =>
      `${plain(pick)}${digits(pick, 2)}@${pick(['bücherwurm', 'почтальон'])}.example`,
    'address with Punycode': (pick) => `${plain(pick)}${digits(pick, 2)}@xn--bcherwurm-q9a.example`,
  }
  return Object.entries(kinds).flatMap(([name, make]) =>
    addressSources.map((by) => ({
      name: `${name} (${by})`,
      category: 'address',
      make(pick) {
        const text = make(pick)
        return {
          text,
          needles: addressNeedles(text),
          declarations: [{ by, kind: 'address', address: text }],
        }
      },
    })),
  )
}

function locals(): Identity[] {
  const local = (by: Source): Identity => ({
    name: `local part (${by})`,
    category: 'local',
    make(pick) {
      const text = `${plain(pick)}.${word(pick)}${digits(pick, 2)}`
      const address = `${text}@${pick(domains)}`
      return { text, needles: localNeedles(text), declarations: [{ by, kind: 'address', address }] }
    },
  })
  const userName: Identity = {
    name: 'user name (account)',
    category: 'local',
    make(pick) {
      const text = `${word(pick)}_${plain(pick)}${digits(pick, 2)}`
      return {
        text,
        needles: localNeedles(text),
        declarations: [{ by: 'account', kind: 'user name', text }],
      }
    },
  }
  return [...addressSources.map(local), userName]
}

function names(): Identity[] {
  const forms: Record<string, (name: Name) => string> = {
    'full name': ([first, last]) => `${first} ${last}`,
    'full name, surname first': ([first, last]) => `${last} ${first}`,
    'full name with comma': ([first, last]) => `${last}, ${first}`,
    'initial and surname': ([first, last]) => `${[...first][0] ?? ''}. ${last}`,
    'full name with middle initial': ([first, last]) => `${first} Q. ${last}`,
  }
  return Object.entries(pools).flatMap(([script, pool]: [string, Pool]) =>
    nameSources
      // Local parts are Latin.
      .filter((by) => by !== 'address' || script === 'Latin')
      .flatMap((by) => [
        ...Object.entries(forms).map(([form, format]): Identity => ({
          name: `${script} ${form} (${by})`,
          category: 'full name',
          make(pick) {
            const name: Name = [pick(pool.first), pick(pool.last)]
            const isInitial = form.startsWith('initial')
            const needles = isInitial ? initialNeedles(name) : nameNeedles(...name)
            return { text: format(name), needles, declarations: [declared(name, by, pick)] }
          },
        })),
        ...(['first name', 'surname'] as const).map((form): Identity => ({
          name: `${script} ${form} (${by})`,
          category: 'single name',
          make(pick) {
            const name: Name = [pick(pool.first), pick(pool.last)]
            const text = form === 'first name' ? name[0] : name[1]
            return { text, needles: singleNeedles(text), declarations: [declared(name, by, pick)] }
          },
        })),
      ]),
  )
}

function initialNeedles([first, last]: Name): Needle[] {
  return [...squeezed(`${[...first][0] ?? ''}${last}`), ...singleNeedles(last)]
}

function declared([first, last]: Name, by: Source, pick: Pick): Declaration {
  if (by === 'account') return { by, kind: 'name', text: `${first} ${last}` }
  if (by === 'address') {
    return { by: 'To', kind: 'address', address: `${first}.${last}@${pick(domains)}`.toLowerCase() }
  }
  const address = `m${digits(pick, 5)}${letters(pick, 3)}@${pick(domains)}`
  return { by, kind: 'address', address, name: `${first} ${last}` }
}

function numbers(): Identity[] {
  const forms: Record<string, (number: string) => string> = {
    'telephone number': (number) => `+33${number}`,
    'telephone number with blanks': (number) => `+33 ${number.replace(/(?=(?:\d\d)+$)/g, ' ')}`,
    'national telephone number': (number) => `0${number.replace(/(?=(?:\d\d)+$)/g, '.')}`,
    'telephone number with brackets': (number) =>
      `0033 (0) ${number.slice(0, 3)}-${number.slice(3)}`,
  }
  return Object.entries(forms).map(([name, format]) => ({
    name: `${name} (account)`,
    category: 'telephone',
    make(pick) {
      const number = `6${digits(pick, 8)}`
      const text = `+33${number}`
      return {
        text: format(number),
        needles: telephoneNeedles(number),
        declarations: [{ by: 'account', kind: 'telephone', text }],
      }
    },
  }))
}

/** A domain that a family shares tells who they are. */
function families(): Identity[] {
  return addressSources.map((by) => ({
    name: `family domain (${by})`,
    category: 'domain',
    make(pick) {
      const text = `${plain(pick)}-family.example`
      const declaration: Declaration = { by, kind: 'address', address: `jane@${text}` }
      return { text, needles: squeezed(text.replace('.example', '')), declarations: [declaration] }
    },
  }))
}

/** A number that can only be told from others at its place. */
function portNumber(): Identity {
  return {
    name: 'five-digit number',
    category: 'port',
    make(pick) {
      const text = `${pick(['2', '3', '4', '5'])}${digits(pick, 4)}`
      return { text, needles: [{ kind: 'number', text }], declarations: [] }
    },
  }
}

function tokens(): Identity[] {
  const kinds: Record<string, (pick: Pick) => string> = {
    'hex token': (pick) => random(pick, '0123456789abcdef', 16),
    'long hex token': (pick) => random(pick, '0123456789ABCDEF', 40),
    'base64url token': (pick) => random(pick, base64Digits, 22),
    UUID: (pick) =>
      [8, 4, 4, 4, 12].map((size) => random(pick, '0123456789abcdef', size)).join('-'),
    'numeric id': (pick) => `${pick(['1', '4', '7'])}${digits(pick, 7)}`,
    'word with digits': (pick) => `${word(pick)}${digits(pick, 3)}`,
    'short mixed case': (pick) =>
      `${random(pick, 'abcdefgh', 1)}${random(pick, 'JKLMNPQ', 2)}${digits(pick, 1)}${random(pick, base64Digits, 4)}`,
    'base32 token': (pick) =>
      [base32Digits, '234567', base32Digits, '234567', base32Digits]
        .map((digits, at) => random(pick, digits, at % 2 === 0 ? 4 : 1))
        .join(''),
  }
  return Object.entries(kinds).map(([name, make]) => ({
    name,
    category: 'token',
    make(pick) {
      const text = make(pick)
      return { text, needles: tokenNeedles(text), declarations: [] }
    },
  }))
}

const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function plain(pick: Pick): string {
  return pick(['alzra', 'jorun', 'zoequ', 'tamsy', 'bronag', 'xiomar', 'oluwas']) + letters(pick, 2)
}

function word(pick: Pick): string {
  return pick(['wunder', 'quarry', 'lemon', 'kowal', 'feather', 'harbor']) + letters(pick, 1)
}

function letters(pick: Pick, size: number): string {
  return random(pick, 'bcdfghjklmnpqrstvwxz', size)
}

function digits(pick: Pick, size: number): string {
  return random(pick, '0123456789', size)
}

function random(pick: Pick, alphabet: string, size: number): string {
  const list = [...alphabet] as [string, ...string[]]
  return Array.from({ length: size }, () => pick(list)).join('')
}
