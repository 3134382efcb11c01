/**
 * How to have a message with all its header lines from one mail program: ways to do it, the best
 * first, each a heading and its steps; `note` for what stays impossible.
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
