import { eve, type Line, outside, type Samples, server, zeek } from '../records.ts';

const get = (user_agent: string | undefined, more: Line = {}) =>
  zeek('http', { method: 'GET', uri: '/a', host: outside, user_agent, ...more });
const eveGet = (http_user_agent: string | undefined, more: Line = {}) =>
  eve('http', { http: { http_method: 'GET', url: '/a', hostname: outside, http_user_agent, ...more } });
const powershell = 'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.1';
const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

export default {
  'PowerShell web request': {
    matches: [[get(powershell)], [eveGet(powershell)], [get(powershell, { host: 'files.example' })]],
    spares: [[get(powershell, { host: 'go.microsoft.com' })], [get(browser)], [get(undefined)]],
  },
  'LOLBIN download (certutil, BITS)': {
    matches: [
      [get('CertUtil URL Agent', { host: 'files.example' })],
      [get('Microsoft BITS/7.8')],
      [eveGet('Microsoft BITS/7.8')],
    ],
    spares: [
      [get('Microsoft BITS/7.8', { host: 'dl.delivery.example' })],
      [get('Microsoft BITS/7.8', { host: server, 'id.resp_h': server })],
      [get('Microsoft-CryptoAPI/10.0')],
    ],
  },
  'curl, wget or script download from a raw IP address': {
    matches: [[get('curl/8.5.0')], [eveGet('python-requests/2.32.0')], [get('Wget/1.21', { host: `${outside}:8080` })]],
    spares: [
      [get('curl/8.5.0', { host: 'files.example' })],
      [get(browser)],
      [get('curl/8.5.0', { 'id.resp_h': server, host: server })],
      [get('curl/8.5.0', { 'id.orig_h': '198.18.4.4', 'id.resp_h': '198.51.100.1' })],
    ],
  },
  'Upload to a raw IP address without a user agent': {
    matches: [
      [get(undefined, { method: 'POST' })],
      [get('', { method: 'POST' })],
      [eveGet(undefined, { http_method: 'POST' })],
    ],
    spares: [
      [get(undefined)],
      [get(browser, { method: 'POST' })],
      [get(undefined, { method: 'POST', host: 'api.example' })],
      [get(undefined, { method: 'POST', host: server, 'id.resp_h': server })],
    ],
  },
  'Attack tool user agent (sqlmap, Nikto, Nmap and others)': {
    matches: [
      [get('sqlmap/1.8#stable (https://sqlmap.org)')],
      [eveGet('Mozilla/5.0 (compatible; Nmap Scripting Engine)')],
    ],
    spares: [[get(browser)], [get('sqlmap/1.8', { 'id.orig_h': '198.18.4.4' })]],
  },
} satisfies Samples;
