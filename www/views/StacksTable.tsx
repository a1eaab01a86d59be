import type {DeviceSummary, StackGroupSummary, StackGroups} from '../../target/plain/pkg/oomscope';
import {column, exactBytes, int} from '../format';
import {useMessages} from '../i18n';
import {memo} from './memo';
import {Stack} from './Stack';

/** What is alive at the peak, by the line that asked for it. */
export const StacksTable = memo(function StacksTable({stacks, device}: {stacks: StackGroups | null; device: DeviceSummary | null}) {
  const t = useMessages();
  if (stacks === null || device === null) return <p class="nothing muted">{t.stacksEmpty}</p>;
  const {unit, show} = column(Math.max(1, ...stacks.map(group => group.bytes)));
  return (
    <div class="table-box">
      <table class="stacks" data-test="stacks">
        <thead><tr><th>{t.userFrame}</th><th class="number">{unit}</th><th class="number">{t.blocks}</th></tr></thead>
        <tbody>{stacks.map((group, at) => <Row key={at} group={group} show={show} />)}</tbody>
      </table>
    </div>
  );
});

function Row({group, show}: {group: StackGroupSummary; show: (bytes: number) => string}) {
  const t = useMessages();
  const {stack, user_frame, bytes, blocks} = group;
  return (
    <tr>
      <td class="path">
        {stack.length === 0 ? t.noStack
          : <details><summary>{user_frame ?? stack.at(-1)}</summary><Stack frames={stack} user={user_frame} /></details>}
      </td>
      <td class="number" title={exactBytes(t, bytes)}>{show(bytes)}</td>
      <td class="number">{int(t, blocks)}</td>
    </tr>
  );
}
