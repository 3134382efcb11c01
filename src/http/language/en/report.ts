/** What the report form says, in English. */
export const reportEn = {
  title: 'Report a message',
  lead: 'We need the complete source of the message, with all its header lines.',
  paste: 'Source of the message',
  pasteHelp: 'In your mail program it is called “show source”, “show original” or “view headers”.',
  files: 'Or message files, one or several',
  kind: 'What is it?',
  kinds: { spam: 'Spam', phishing: 'Phishing', 'not-spam': 'Not spam' },
  kindHelp: {
    spam: 'advertising or other mail you never asked for',
    phishing: 'somebody poses as a bank, a shop or a colleague',
    'not-spam': 'you want this mail, and others took it for spam',
  },
  comment: 'Comment (you need not write one)',
  submit: 'Report',
  nothing: 'Paste the source of a message, or choose a file.',
}
