declare module 'libmime' {
  const libmime: {
    /** The media type of a file name or extension. */
    detectMimeType: (name: string) => string
  }
  export default libmime
}

declare module 'libmime/lib/charset.js' {
  const charset: {
    /** Decodes bytes in a charset, in UTF-8 if it is unknown. */
    decode: (bytes: Buffer, charset: string) => string
  }
  export default charset
}
