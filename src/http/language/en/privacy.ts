/** The page on what we keep, in English: the text to which people agree when they sign up. */
export const privacyEn = {
  title: 'What we keep, and whom we tell',
  link: 'Privacy',
  version: 'Version',
  operator: 'Who runs this',
  nobody: 'The operator of this site has not yet said who that is.',
  contact: 'How to reach them',
  sections: [
    {
      title: 'What we keep',
      lines: [
        'Your mail address, your password as a hash from which nobody can read it, and your ' +
          'settings.',
        'The messages that you report, when you reported them, what you said about them, and ' +
          'what ' +
          'we found out.',
        'Your sessions: which browser, since when, last seen. Your tokens: their names, what ' +
          'they ' +
          'may do, last used.',
        'The mail that we wrote to you and that came to us from you.',
        'That you agreed to this text, and when.',
      ],
    },
    {
      title: 'For how long',
      lines: [
        'Reports, messages and mail: {days} days, then they are dropped week by week.',
        'Your account: until you erase it. A request for an account that nobody confirms: 48 ' +
          'hours.',
        'Counts of how often something was reported, without names, as long as they help others.',
      ],
    },
    {
      title: 'Whom we tell',
      lines: [
        'Who can stop a sender: the abuse desk of the network the message came from, the ' +
          'desk of a ' +
          'mailing that asks for complaints. They get the message without your address: it is ' +
          'replaced wherever it stands.',
        'Anybody may ask how often an address, a link or a file was reported, and not by whom.',
        'Nobody else. We sell nothing, and no page of ours loads anything from elsewhere.',
      ],
    },
    {
      title: 'What you can do',
      lines: [
        'See all of it and take it with you: in your settings, as an archive.',
        'Correct it: your address, your settings, and any report by taking it back.',
        'Erase it: your account with your reports, or your account alone.',
        'Complain: to us, or to the authority for data protection where you live.',
      ],
    },
    {
      title: 'Cookies',
      lines: [
        'One that keeps you signed in, and one that remembers the language you chose. No others.',
      ],
    },
  ],
}
