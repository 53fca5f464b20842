import type { Header } from './reply.ts';

/**
 * What a page may do: run, show and ask for what comes from here, and nothing else. Scripts and styles are files, never
 * text in a page, and no script may make markup of a text (`require-trusted-types-for`), so that what sensors send
 * stays text. `'self'` covers WebSockets of the same host and port (CSP 3, section 6.7.2.8).
 */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** What browsers can do for pages and these don't need. To write to the clipboard is left: hashes and tokens are copied. */
const withoutFeatures = [
  'accelerometer',
  'autoplay',
  'camera',
  'clipboard-read',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'gamepad',
  'geolocation',
  'gyroscope',
  'hid',
  'identity-credentials-get',
  'idle-detection',
  'local-fonts',
  'magnetometer',
  'microphone',
  'midi',
  'otp-credentials',
  'payment',
  'picture-in-picture',
  'publickey-credentials-create',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'storage-access',
  'sync-xhr',
  'usb',
  'window-management',
  'xr-spatial-tracking',
]
  .map((feature) => `${feature}=()`)
  .join(', ');

/** Of every answer that is a page; the general ones of other names come too. */
export const pageHeaders: readonly Header[] = [
  ['Content-Security-Policy', contentPolicy],
  ['Permissions-Policy', withoutFeatures],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  // Kept, and asked for again each time: it names the files of one build.
  ['Cache-Control', 'no-cache'],
];
