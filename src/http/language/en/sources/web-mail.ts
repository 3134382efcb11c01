import type { SourceGuide } from './programs.ts'

const save = 'Save the message as a file'
const copy = 'Copy the source'
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
