import { freeMailDomains, freePages, shorteners } from '../../analysis/features/known-hosts.ts'

/** Domains in which anybody has a mailbox, also for money. */
export const mailboxDomains: ReadonlySet<string> = new Set([
  ...freeMailDomains,
  ...(
    'aim.com aol.fr bigpond.com bluewin.ch charter.net earthlink.net email.com email.cz ' +
    'fastmail.fm gmx.at gmx.ch hotmail.de hotmail.es hotmail.it inbox.lv live.co.uk live.nl ' +
    'mms.net neuf.fr protonmail.ch rogers.com shaw.ca talktalk.net tuta.com virgin.net ' +
    'yahoo.ca'
  ).split(' '),
])

/** Domains that send a reader on to wherever somebody wanted: the domain did nothing. */
export const shortenerDomains: ReadonlySet<string> = new Set([
  ...shorteners,
  ...'aka.ms amzn.to bit.do fb.me goo.su ift.tt lnk.to mcaf.ee spoti.fi t.me wa.me youtu.be'.split(
    ' ',
  ),
])

/**
 * Domains on which millions keep their pages and files under names the domain's owner gave, or
 * through which others send and are read: storage, forms, mailing, social networks, standards.
 */
export const platformDomains: ReadonlySet<string> = new Set([
  ...freePages.keys(),
  ...(
    'adobe.com aliyuncs.com amazon.com amazonaws.com amazonses.com apple.com archive.org ' +
    'atlassian.net azure.com azureedge.net backblazeb2.com box.com brevo.com calendly.com ' +
    'cloudflare.com cloudflarestorage.com constantcontact.com digitaloceanspaces.com ' +
    'discord.com discordapp.com docusign.com docusign.net doubleclick.net ' +
    'dropboxusercontent.com ebay.com evernote.com exacttarget.com facebook.com ' +
    'facebookmail.com fbcdn.net github.com githubusercontent.com gitlab.com ' +
    'googleusercontent.com gstatic.com hubspot.com instagram.com intuit.com issuu.com ' +
    'klaviyo.com klaviyomail.com licdn.com linkedin.com list-manage.com live.net ' +
    'mailchimp.com mailgun.net mailgun.org mailjet.com mandrillapp.com mcsv.net medium.com ' +
    'mega.nz microsoft.com microsoftonline.com notion.site notion.so office365.com ' +
    'onedrive.com outlook.com paypal.com pinterest.com postmarkapp.com pphosted.com ' +
    'reddit.com rsgsv.net salesforce.com scribd.com sendgrid.net sendinblue.com ' +
    'sharepoint.com shopify.com slack.com sparkpostmail.com squarespace.com stripe.com ' +
    'surveymonkey.com telegram.org trello.com tumblr.com twitter.com urldefense.com vimeo.com ' +
    'vk.com w3.org wetransfer.com whatsapp.com wikipedia.org windows.net wix.com wixsite.com ' +
    'wordpress.com x.com yahoo.net yahoodns.net youtube.com zendesk.com zoom.us'
  ).split(' '),
])
