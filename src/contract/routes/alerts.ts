import { alertExportQuery, alertGroupQuery, alertHistoryQuery } from '../alert-parameters.ts';
import { alertHistogramQuery } from '../count-parameters.ts';
import { answer } from '../envelopes.ts';
import { alertNoteQuery, alertQuery, alertStreamQuery } from '../parameters.ts';
import { Alert, AlertUpdateInput } from '../resources/alert.ts';
import { AlertBulkAnswer, AlertBulkInput } from '../resources/alert-bulk.ts';
import { AlertGroups } from '../resources/alert-groups.ts';
import { AlertNote, AlertNoteInput } from '../resources/alert-note.ts';
import { analysts, created, get, ifMatch, json, none, one, page, post, put, readers, sharing } from './route.ts';

/** Alerts, their notes and their history. */
export const alertsRoutes = sharing({ tag: 'alerts', access: readers })({
  listAlerts: get('/api/v1/alerts', 'List alerts', { query: alertQuery, responses: page('alert') }),
  getAlertHistogram: get('/api/v1/alerts/histogram', 'Count alerts over time by severity', {
    query: alertHistogramQuery,
    responses: one('histogram'),
  }),
  streamAlerts: get('/api/v1/alerts/stream', 'Stream alerts over a WebSocket', {
    query: alertStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'alerts' },
  }),
  bulkUpdateAlerts: post('/api/v1/alerts/bulk', 'Update many alerts; each one succeeds or fails separately', {
    access: analysts,
    audited: true,
    body: { kind: 'json', schema: AlertBulkInput },
    responses: { 200: json(answer(AlertBulkAnswer)) },
  }),
  exportAlerts: get('/api/v1/alerts/export', 'Export all matching alerts, oldest first, one per line', {
    query: alertExportQuery,
    responses: { 200: { kind: 'text', mediaType: 'application/x-ndjson' } },
  }),
  groupAlerts: get('/api/v1/alerts/groups', 'Group alerts by a shared value', {
    query: alertGroupQuery,
    responses: { 200: json(answer(AlertGroups)) },
  }),
  getAlert: get('/api/v1/alerts/:alert_id', 'Get an alert', { responses: one('alert') }),
  updateAlert: put('/api/v1/alerts/:alert_id', 'Update an alert (status, assignee, notes and more)', {
    access: analysts,
    audited: true,
    headers: ifMatch,
    body: { kind: 'json', schema: AlertUpdateInput, resource: Alert },
    responses: one('alert'),
    errors: ['CONFLICT', 'INVALID_TRANSITION'],
  }),
  listAlertHistory: get('/api/v1/alerts/:alert_id/history', 'List the history of an alert', {
    query: alertHistoryQuery,
    responses: page('alert_history'),
  }),
  listAlertNotes: get('/api/v1/alerts/:alert_id/notes', 'List the notes of an alert', {
    query: alertNoteQuery,
    responses: page('alert_note'),
  }),
  addAlertNote: post('/api/v1/alerts/:alert_id/notes', 'Add a note to an alert', {
    access: analysts,
    body: { kind: 'json', schema: AlertNoteInput, resource: AlertNote },
    responses: created('alert_note'),
  }),
});
