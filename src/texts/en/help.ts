/**
 * How to get a message with its complete header from one mail program: several ways, the best
 * first, each with a heading and steps; `note` says what is not possible.
 */
export type SourceGuide = {
  name: string
  ways: readonly { title: string; steps: readonly string[] }[]
  note?: string
}

const save = 'Save the message as a file'
const copy = 'Copy the source'

/** Guides for mail programs, in English. */
export const programsEn = {
  'outlook-new': {
    name: 'Outlook for Windows (new)',
    ways: [
      {
        title: save,
        steps: [
          'Open the message and click “…” (More actions) at its top right.',
          'Choose “Save as”, or “Download” and then “Download as EML”.',
          'Upload the .eml file here.',
        ],
      },
      {
        title: copy,
        steps: [
          'Click “…”, then “View”, then “View message source”.',
          'Select everything, copy it, and paste it here.',
        ],
      },
    ],
  },
  'outlook-classic': {
    name: 'Outlook for Windows (classic)',
    ways: [
      {
        title: save,
        steps: [
          'Select the message and choose “File”, then “Save As”.',
          'Choose the type “Outlook Message Format – Unicode (*.msg)”. Not “HTML” or “Text ' +
            'only”: these leave the header lines out.',
          'Upload the .msg file here. You can also drag messages from the list to the ' +
            'desktop, and from there to the form.',
        ],
      },
    ],
    note:
      'A .msg file has header lines only if the message came over the Internet: what you ' +
      'sent yourself, drafts, and much mail inside a company has none. ' +
      'To see whether there are any, open the message and choose “File”, then “Properties”: ' +
      'they stand under “Internet headers”. ' +
      'If that is empty, look at the message in the web mail of your provider.',
  },
  'outlook-mac': {
    name: 'Outlook for Mac',
    ways: [
      {
        title: save,
        steps: [
          'Drag the message from the list to the desktop: it becomes a .eml file.',
          'Upload this file here.',
        ],
      },
      {
        title: copy,
        steps: [
          'Hold Control, click the message in the list, and choose “View Source”.',
          'Select everything, copy it, and paste it here.',
        ],
      },
    ],
  },
  'apple-mail': {
    name: 'Apple Mail on a Mac',
    ways: [
      {
        title: save,
        steps: [
          'Select the message and choose “File”, then “Save As…”.',
          'Choose the format “Raw Message Source”, and save.',
          'Upload the file here. Dragging the message to the desktop works too.',
        ],
      },
      {
        title: copy,
        steps: [
          'Choose “View”, “Message”, “Raw Source” (or press Option, Command and U).',
          'Select everything, copy it, and paste it here.',
        ],
      },
    ],
  },
  iphone: {
    name: 'Mail on iPhone and iPad',
    ways: [
      {
        title: 'From a computer',
        steps: [
          'Leave the message where it is, do not delete it.',
          'Open the web mail of your provider on a computer, and follow its guide.',
        ],
      },
      {
        title: 'On an iPad',
        steps: [
          'Open “Mail” and “Files” side by side.',
          'Drag the message from the list into a folder of “Files”: it becomes a .eml file.',
          'Upload this file here.',
        ],
      },
    ],
    note:
      'Mail on the iPhone cannot show the source, and what it forwards has lost the ' +
      'header lines.',
  },
  thunderbird: {
    name: 'Thunderbird',
    ways: [
      {
        title: save,
        steps: [
          'Select the message, or several.',
          'Choose “File”, “Save As”, “File…” (or press Ctrl and S).',
          'Upload the .eml files here. Dragging them out of the list works too.',
        ],
      },
      {
        title: copy,
        steps: [
          'Open the message and choose “More”, then “View Source” (or press Ctrl and U).',
          'Select everything, copy it, and paste it here.',
        ],
      },
    ],
  },
  android: {
    name: 'Mail on Android (Samsung and others)',
    ways: [
      {
        title: 'From a computer',
        steps: [
          'Leave the message where it is, do not delete it.',
          'Open the web mail of your provider on a computer, and follow its guide.',
        ],
      },
    ],
    note:
      'The mail programs that come with telephones cannot show the source. Some that ' +
      'can be installed do: FairEmail saves messages as .eml files.',
  },
} satisfies Record<string, SourceGuide>

const upload = 'Upload the .eml file here.'
const paste = 'Select everything, copy it, and paste it here.'
const byName = 'The menus of this site are in its own language; we give them as they stand there.'

/** Guides for web mail, in English. */
export const webMailEn = {
  gmail: {
    name: 'Gmail',
    ways: [
      {
        title: save,
        steps: [
          'Open the message in a browser and click the three dots at its top right (“More”).',
          'Choose “Download message”.',
          upload,
        ],
      },
      {
        title: copy,
        steps: [
          'Click the three dots and choose “Show original”.',
          'In the new tab click “Copy to clipboard”, and paste it here.',
        ],
      },
    ],
    note:
      'The Gmail app on Android and iPhone cannot do this. Open mail.google.com in the ' +
      'browser, on a telephone as the “desktop site”.',
  },
  'outlook-web': {
    name: 'Outlook.com, Hotmail, Outlook on the web',
    ways: [
      {
        title: save,
        steps: [
          'Open the message and click “…” (More actions) at its top right.',
          'Choose “Download”, then “Download as EML”.',
          upload,
        ],
      },
      { title: copy, steps: ['Click “…”, then “View”, then “View message source”.', paste] },
    ],
  },
  yahoo: {
    name: 'Yahoo Mail',
    ways: [
      {
        title: copy,
        steps: [
          'Open the message and click the three dots (“More”) above it.',
          'Choose “View raw message”.',
          paste,
        ],
      },
    ],
  },
  proton: {
    name: 'Proton Mail',
    ways: [
      {
        title: save,
        steps: [
          'Open the message and click the three dots (“More”) at its top right.',
          'Choose “Export”.',
          upload,
        ],
      },
    ],
    note: '“View headers” shows the header lines alone; we need the whole message.',
  },
  orange: {
    name: 'Orange',
    ways: [
      {
        title: copy,
        steps: [
          'Open the message in the web mail and open the menu of further actions (“plus”).',
          'Choose the entry that shows the source (“code source”) or the header (“en-tête”).',
          paste,
        ],
      },
    ],
    note: byName,
  },
  free: {
    name: 'Free',
    ways: [
      {
        title: 'In Zimbra',
        steps: ['Right-click the message in the list and choose “Afficher l’original”.', paste],
      },
      {
        title: 'In Roundcube',
        steps: ['Open the message, then “Plus”, then “Télécharger (.eml)”.', upload],
      },
    ],
    note: byName,
  },
  sfr: {
    name: 'SFR',
    ways: [
      {
        title: copy,
        steps: [
          'Open the message in the web mail and open the menu of further actions.',
          'Choose the entry that shows the source (“source”) or the header (“en-tête”).',
          paste,
        ],
      },
    ],
    note: byName,
  },
  laposte: {
    name: 'La Poste',
    ways: [
      {
        title: copy,
        steps: [
          'Open the message in the web mail and open the menu of further actions (three dots).',
          'Choose the entry that shows the source (“source”) or the header (“en-tête”).',
          paste,
        ],
      },
    ],
    note: byName,
  },
  mailru: {
    name: 'Mail.ru',
    ways: [
      {
        title: save,
        steps: [
          'Open the message and click “More” (“Ещё”) above it.',
          'Choose “Download” (“Скачать”).',
          upload,
        ],
      },
      {
        title: copy,
        steps: ['Click “More”, then “Service headers” (“Служебные заголовки”).', paste],
      },
    ],
  },
  yandex: {
    name: 'Yandex Mail',
    ways: [
      {
        title: copy,
        steps: [
          'Open the message and click the three dots.',
          'Choose “Email properties” (“Свойства письма”).',
          paste,
        ],
      },
    ],
  },
  gmx: {
    name: 'GMX and Web.de',
    ways: [
      {
        title: save,
        steps: [
          'Open the message and click “More” (“Mehr”).',
          'Choose the entry that saves it as a file (“Speichern”).',
          upload,
        ],
      },
      {
        title: copy,
        steps: [
          'Click the small “i” (“Info”) beside the date, then “Extended header” ' +
            '(“Erweiterter Header”).',
          paste,
        ],
      },
    ],
    note: 'The extended header alone has no text: save the message where you can.',
  },
  roundcube: {
    name: 'Roundcube',
    ways: [
      {
        title: save,
        steps: ['Open the message, click “More”, then “Download”, then “Source (.eml)”.', upload],
      },
      { title: copy, steps: ['Click “More”, then “Show source”.', paste] },
    ],
  },
  zimbra: {
    name: 'Zimbra',
    ways: [
      {
        title: copy,
        steps: ['Right-click the message in the list and choose “Show Original”.', paste],
      },
    ],
  },
} satisfies Record<string, SourceGuide>

/** Texts of the help pages, in English. */
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

/** The type of every translation of the help pages. */
export type HelpWords = typeof helpEn

type SourceGuides = Record<keyof typeof webMailEn | keyof typeof programsEn, SourceGuide>
