/** What a letter of advice says, in one language. Names and links are put in as they are. */
export type AdviceWords = {
  /** Of an instant, as a day. */
  day: (at: Date) => string
  subjectKnown: (name: string) => string
  subjectCautious: (signer: string) => string
  hello: string
  /** The first sentences: which message it is about, and whose it is. */
  reported: (subject: string, day: string) => string
  reportedUntitled: (day: string) => string
  isKnown: (name: string) => string
  isCautious: (signer: string) => string
  whyTitle: string
  whySignature: (domain: string) => string
  whyRange: (range: string, name: string) => string
  cautiousTitle: string
  /** How to tell whether one subscribed, line by line. */
  cautious: (signer: string) => readonly string[]
  howTitle: string
  /** In front of what the marketer declared, when it is in another language than the letter. */
  inLanguage: Readonly<Record<'en' | 'fr' | 'ru', string>>
  said: (name: string) => string
  byLink: (host: string) => string
  byMail: (address: string, subject: string | undefined) => string
  byClick: string
  byPage: string
  website: string
  noWay: (name: string) => string
  nextTitle: string
  next: readonly string[]
  nobodyAccused: string
  networkTold: string
  /** The sender wants its complaints, and its own codes may stand in what it gets. */
  senderTold: string
  weekly: string
  off: string
}
