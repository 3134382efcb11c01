/** What the page of a reporter's settings says, in English. */
export const settingsEn = {
  link: 'Settings',
  title: 'Settings',
  saved: 'Saved.',
  mailIn: {
    title: 'Report by mail',
    lead:
      'Forward unwanted messages to this address as attachments, one or many in a mail, and each ' +
      'becomes a report.',
    address: 'Your address',
    since: 'since',
    secret:
      'It is yours alone: whoever knows it can report in your name. If it has become known, ' +
      'make a new one; the old one ends at once.',
    none: 'You have no address for reports by mail yet.',
    make: 'Make an address',
    renew: 'Make a new one',
    made: 'This is your new address. Any you had before it no longer works.',
    howTo: 'How to forward a message as an attachment',
    why:
      'A message that is forwarded the usual way has lost its header, and with it where it came ' +
      'from: we cannot take it, and will write to you.',
  },
  letters: {
    title: 'Mail from us',
    language: 'Language of these pages and of mail from us',
    languages: { en: 'English', fr: 'Français', ru: 'Русский' },
    wantsAnswers: 'Write to me when an abuse desk answers about a report of mine',
    wantsAdvice: 'Write to me how to unsubscribe, where what I reported is a known mailing',
    save: 'Save',
    unknown: 'Choose one of the languages.',
  },
  programs: {
    title: 'For programs',
    lead: 'If you write programs or use some that report for you.',
    docs: 'How programs talk to us',
  },
}
