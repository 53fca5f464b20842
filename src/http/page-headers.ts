import type { Header } from './reply.ts';

/**
 * The content security policy of pages. Pages may run, show and request only content from this server.
 * Scripts and styles are files, never inline, and no script may turn text into markup
 * (`require-trusted-types-for`), so that sensor data stays text. `'self'` covers WebSockets of the same host
 * and port (CSP 3, section 6.7.2.8).
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

/**
 * Browser features that the pages do not need. Writing to the clipboard is not listed, because pages copy
 * hashes and tokens.
 */
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

/** Headers of every page, in addition to the general headers with other names. */
export const pageHeaders: readonly Header[] = [
  ['Content-Security-Policy', contentPolicy],
  ['Permissions-Policy', withoutFeatures],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  // Pages are cached but revalidated each time, because the document names the files of one build.
  ['Cache-Control', 'no-cache'],
];
