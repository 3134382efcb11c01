import { programsEn, type SourceGuide } from './sources/programs.ts'
import { webMailEn } from './sources/web-mail.ts'

/** The help pages, in English. */
export const helpEn = {
  link: 'Help',
  title: 'How to find the source of a message',
  lead:
    'Every message carries header lines that your mail program usually hides. They tell ' +
    'by which machines it came, and without them nobody can say who sent it.',
  forwarding:
    'An ordinary forward, a screenshot, a PDF or a printed page does not have them. Save ' +
    'the message as a file, or copy its whole source.',
  web: 'Mail in the browser',
  programs: 'Programs for computers and telephones',
  otherTitle: 'Another mail program',
  other:
    'Look in the menu of the message for words such as “source”, “original”, “headers”, ' +
    '“raw”, “download”, “export” or “save as”. A saved .eml file is best.',
  attachedTitle: 'By mail',
  attached:
    'If your program can forward a message as an attachment, you can send it to the address ' +
    'of your own that stands in your settings. The header lines stay as they are.',
  settings: 'To the settings',
  names: 'The names of menus change now and then, and may differ a little from these.',
  pageTitle: (name: string) => `The source of a message in ${name}`,
  all: 'All mail programs',
  report: 'Report a message',
  sources: { ...webMailEn, ...programsEn } as SourceGuides,
}

/** What every language says on the help pages. */
export type HelpWords = typeof helpEn

type SourceGuides = Record<keyof typeof webMailEn | keyof typeof programsEn, SourceGuide>
