import { eve, type Line, outside, type Samples, server, zeek } from '../records.ts';

const program = 'application/x-dosexec';
const got = (more: Line) => zeek('http', { method: 'GET', host: outside, uri: '/a.exe', status_code: 200, ...more });

export default {
  'Executable download from a raw IP address': {
    matches: [[got({ resp_mime_types: [program] })], [got({ resp_mime_types: [program], host: `${outside}:8000` })]],
    spares: [
      [got({ resp_mime_types: [program], host: 'files.example' })],
      [got({ resp_mime_types: ['text/html'] })],
      [got({ resp_mime_types: [program], host: server, 'id.resp_h': server })],
    ],
  },
  'Script or executable requested from a raw IP address': {
    matches: [
      [got({})],
      [got({ uri: '/x/run.ps1?id=3' })],
      [eve('http', { http: { hostname: outside, url: '/i.sh', status: 200, http_method: 'GET' } })],
    ],
    spares: [
      [got({ host: 'files.example' })],
      [got({ status_code: 404 })],
      [got({ uri: '/exe' })],
      [got({ uri: '/index.html?f=a.exe' })],
      [got({ host: server, 'id.resp_h': server })],
    ],
  },
  'Executable with a mismatched extension (MIME mismatch)': {
    matches: [[got({ resp_mime_types: [program], uri: '/logo.PNG', host: 'files.example' })]],
    spares: [[got({ resp_mime_types: [program] })], [got({ resp_mime_types: ['image/png'], uri: '/logo.png' })]],
  },
} satisfies Samples;
