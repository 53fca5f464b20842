import { Type } from 'typebox';
import { successWith } from '../envelopes.ts';
import { scanQuery } from '../parameters.ts';
import { NoScan, Scan, ScanInput } from '../resources/scan.ts';
import { accepted, analysts, get, json, one, page, post, readers, sharing } from './route.ts';

/** Active discovery scans of the network. */
export const discoveryRoutes = sharing({ tag: 'discovery', access: readers })({
  startScan: post('/api/v1/discovery/scan', 'Start a discovery scan; scans run one at a time and queue', {
    access: analysts,
    audited: 'each',
    body: { kind: 'json', schema: ScanInput, resource: Scan },
    responses: accepted('scan'),
  }),
  getScanStatus: get(
    '/api/v1/discovery/status',
    'Get the running scan, or the most recent scan, or the status idle before the first scan',
    { responses: { 200: json(successWith('scan', Type.Union([Scan, NoScan]))) } },
  ),
  listScans: get('/api/v1/discovery/history', 'List scans', { query: scanQuery, responses: page('scan') }),
  getScan: get('/api/v1/discovery/scan/:scan_id', 'Get a scan', { responses: one('scan') }),
  cancelScan: post(
    '/api/v1/discovery/scan/:scan_id/cancel',
    'Cancel a queued or running scan; returns once it has stopped',
    { access: analysts, audited: 'each', responses: one('scan'), errors: ['INVALID_TRANSITION'] },
  ),
});
