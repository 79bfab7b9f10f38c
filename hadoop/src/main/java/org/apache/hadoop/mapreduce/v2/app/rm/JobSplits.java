package org.apache.hadoop.mapreduce.v2.app.rm;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.split.SplitMetaInfoReader;
import org.apache.hadoop.mapreduce.v2.util.MRApps;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import trunkline.hadoop.JobLayout.Split;

/** The splits of a job as its client left them in the staging folder, in the order of its maps. */
final class JobSplits {
    private JobSplits() {}

    static List<Split> read(Configuration conf, ApplicationId id) throws IOException {
        FileSystem files = FileSystem.get(conf);
        String user = UserGroupInformation.getCurrentUser().getShortUserName();
        org.apache.hadoop.mapreduce.JobID job = TypeConverter.fromYarn(id);
        Path folder = files.makeQualified(new Path(MRApps.getStagingAreaDir(conf, user), job.toString()));
        List<Split> splits = new ArrayList<>();
        FSDataInputStream in = null;
        String location = null;
        try {
            for (TaskSplitMetaInfo meta : SplitMetaInfoReader.readSplitMetaInfo(job, files, conf, folder)) {
                if (in == null || !meta.getSplitLocation().equals(location)) {
                    if (in != null) {
                        in.close();
                    }
                    location = meta.getSplitLocation();
                    in = files.open(new Path(location));
                }
                in.seek(meta.getStartOffset());
                splits.add(new Split(name(in), meta.getInputDataLength(), Arrays.asList(meta.getLocations())));
            }
        } finally {
            if (in != null) {
                in.close();
            }
        }
        return splits;
    }

    /** The name of the file of which the split is a part, or its class if it is no part of a file. */
    private static String name(FSDataInputStream in) throws IOException {
        String type = Text.readString(in);
        if (!type.equals(FileSplit.class.getName())
                && !type.equals(org.apache.hadoop.mapred.FileSplit.class.getName())) {
            return type;
        }
        // Both classes write the same fields.
        FileSplit split = new FileSplit();
        split.readFields(in);
        return split.getPath().getName();
    }
}
