//! Descriptions for people.

use websvc_schedule::Cron;

use super::schedule;

#[test]
fn schedule_names_its_zone() {
    assert_eq!(schedule("0 9 * * *", "europe/berlin").to_string(), "Every day at 09:00 (Europe/Berlin)");
}

#[test]
fn expression_is_described_in_words() {
    for (cron, words) in [
        ("* * * * *", "Every minute"),
        ("*/1 * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("5-59/15 * * * *", "Every 15 minutes from :05"),
        ("*/15 9-17 * * 1-5", "Every 15 minutes in the hours 9 to 17, every weekday (Monday to Friday)"),
        ("*/60 * * * *", "Every hour at :00"),
        ("15 * * * *", "Every hour at :15"),
        ("0,10,30 * * * *", "Every hour at :00, :10 and :30"),
        ("*/7 8 * * *", "At :00, :07, :14, :21, :28, :35, :42, :49 and :56 in the hour 8"),
        ("0 */6 * * *", "Every 6 hours"),
        ("15 */6 * * *", "Every 6 hours from 00:15"),
        ("0 1-23/2 * * *", "Every 2 hours from 01:00"),
        ("0 */24 * * *", "Every day at 00:00"),
        ("0 9,12,18 * * *", "Every day at 09:00, 12:00 and 18:00"),
        ("0,30 9,10 * * *", "Every day at 09:00, 09:30, 10:00 and 10:30"),
        ("0 9-17 * * *", "At :00 in the hours 9 to 17"),
        ("0 0 * * 0", "Every Sunday at 00:00"),
        ("0 0 * * 7", "Every Sunday at 00:00"),
        ("0 */12 * * 1", "Every Monday at 00:00 and 12:00"),
        ("30 9 * * 1-5", "Every weekday (Monday to Friday) at 09:30"),
        ("30 9 * * sat,sun", "Every Saturday and Sunday at 09:30"),
        ("30 9 * * fri-sun", "Every Friday to Sunday at 09:30"),
        ("30 9 * * 1,3,5", "Every Monday, Wednesday and Friday at 09:30"),
        ("0 0 1 * *", "On day 1 of every month at 00:00"),
        ("0 0 1,15 * *", "On days 1 and 15 of every month at 00:00"),
        ("0 0 */2 * *", "On days 1 to 31 in steps of 2 of every month at 00:00"),
        ("0 0 1 1,7 *", "On day 1 of January and July at 00:00"),
        ("0 9 * 6-8 *", "Every day in June to August at 09:00"),
        ("0 9 * 12 1", "Every Monday in December at 09:00"),
        ("*/30 * * 12 *", "Every 30 minutes, every day in December"),
        ("0 0 13 * 5", "On day 13 of every month, and every Friday, at 00:00"),
        ("0 0 1-7 * */7", "Every Sunday that is on days 1 to 7 of the month, at 00:00"),
        ("0 0 1-31 * 0-6", "Every day at 00:00"),
    ] {
        assert_eq!(words, cron.parse::<Cron>().unwrap().describe(), "{cron}");
    }
}
