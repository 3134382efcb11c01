/** What the page of one mail to an abuse desk says, in English. */
export const toldEn = {
  title: 'What we tell',
  open: 'Read it',
  to: 'To',
  left: 'This is the mail as it left, byte for byte.',
  leaves: 'This is the mail as it would leave now.',
  concealed:
    'By certain addresses in it the desk answers. Their ends are blotted out (****) for you, ' +
    'because whoever has them speaks for the desk; all else is as it is.',
  none: 'There is no mail of its own about your message.',
  text: 'What it says',
  source: 'The whole mail',
  download: 'Download (.eml)',
  back: 'Back to your report',
}

/** The same in another language. */
export type ToldWords = typeof toldEn
