/** Our stored sentences about the reporter, rephrased for the reporter, in English. */
export const saidEn: Readonly<Record<string, string>> = {
  '{ip} brought nearly all that the reporter reported so far.':
    '{ip} brought nearly all that you reported so far.',
  '{ip} is a given trusted relay.': '{ip} is one of your mail servers.',
  '{name} took the message for the reporter and forwarded it.':
    '{name} took the message for you and forwarded it.',
  'The reporter says that this is not spam.': 'You say that this is not spam.',
  'The reporter is asked.': 'You are asked.',
  'The abuse address of this network is our own, or the reporter’s.':
    'The abuse address of this network is our own, or yours.',
  'The reporter wants {host} to be asked, once.': 'You want {host} to be asked, once.',
  'More is known of the reporter’s mail servers: it is looked at again.':
    'More is known of your mail servers: it is looked at again.',
  'The reporter does not know which of the machines belong to the mail provider.':
    'You do not know which of the machines belong to your mail provider.',
  'The reporter says of {n} of the machines that they belong to the mail provider.':
    'You say of {n} of the machines that they belong to your mail provider.',
  'The reporter says that none of the machines belongs to the mail provider.':
    'You say that none of the machines belongs to your mail provider.',
  'The reporter now says that this is spam.': 'You now say that this is spam.',
  'The reporter now says that this is phishing.': 'You now say that this is phishing.',
  'The reporter now says that this is not spam.': 'You now say that this is not spam.',
  'The reporter took it back.': 'You took it back.',
}
