import { number, plural } from '../plural.ts'

/** What the report form says of files, and of what became of them, in English. */
export const uploadingEn = {
  filesHelp: (file: number, upload: number, messages: number) =>
    `Saved messages (.eml, .emlx), Outlook files (.msg), mailboxes (.mbox), or zip archives of ` +
    `these. At most ${number('en', file)} MB each, ${number('en', upload)} MB and ` +
    plural('en', messages, { one: '# message in all.', other: '# messages in all.' }),
  findSource: 'How do I find the source in my mail program?',
  losesFiles: 'Files cannot be kept by a form: please choose them again.',
  drop: 'You can also drop files here.',
  chosen: 'Chosen files',
  remove: 'Remove {name}',
  fileTooBig: '{name} is bigger than {limit} MB and was left out.',
  allTooBig:
    'Together the files are bigger than {limit} MB. Please remove some and report them ' +
    'after these.',
  sending: 'Sending: {percent}%',
  reading: 'Sent. We are reading the messages.',
  cancel: 'Stop sending',
  stopped: 'Stopped. Nothing was reported.',
  failed: 'The connection broke off. Please try again.',
  progress: 'Progress of sending',
  recorded: 'Recorded',
  changed: 'Changed',
  repeated: 'Reported before',
  refused: 'Not recorded',
  rebuilt:
    'Outlook does not keep a message as it was sent, so we put it together again. ' +
    'Its signatures can prove nothing.',
  howTo: 'How to save a message with its header lines',
}
